"""What is a date and what only looks like one."""


def is_date(month: str, day: str) -> bool:
    """Tell whether two numbers are a month and a day of it."""
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def is_recent_year(digits: str) -> bool:
    """Tell whether four digits are a year of living memory."""
    return 1900 <= int(digits) <= 2100
