"""What is done to models and machines: install, doctor, bench."""
