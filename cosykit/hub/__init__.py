"""What can be installed, where it comes from, and how it lies in models/."""
