"""What is a date and what only looks like one."""


def is_date(month: str, day: str) -> bool:
    """Tell whether two numbers are a month and a day of it."""
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def is_recent_year(digits: str) -> bool:
    """Tell whether four digits are a year of living memory."""
    return 1900 <= int(digits) <= 2100


def are_days(month: str, day: str, last_month: str, last_day: str) -> bool:
    """Tell whether 5/1-5/7 means days; 1/3-1/2 rises as fractions do."""
    first, last = (int(month), int(day)), (int(last_month), int(last_day))
    if not (is_date(month, day) and is_date(last_month, last_day)):
        return False
    are_fractions = all(top < bottom <= 10 for top, bottom in (first, last))
    if are_fractions and first[0] * last[1] < last[0] * first[1]:
        return False
    return first < last or first[0] > last[0] + 9
