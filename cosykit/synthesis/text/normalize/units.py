"""Units of measurement and currencies, and their names in Mandarin and English."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """The names of a unit.

    Attributes:
        mandarin: Said after the number.
        singular: English, after one.
        plural: English, after any other number.
    """

    mandarin: str
    singular: str
    plural: str


def _table(rows: str) -> Mapping[str, Unit]:
    """Read rows of `symbols | Mandarin | English singular | plural unless with s`."""
    units: dict[str, Unit] = {}
    for row in rows.strip().splitlines():
        symbols, mandarin, singular, *plural = (cell.strip() for cell in row.split("|"))
        unit = Unit(mandarin, singular, plural[0] if plural else f"{singular}s")
        units |= dict.fromkeys(symbols.split(), unit)
    return units


UNITS = _table("""
km KM Km | 公里 | kilometer
m | 米 | meter
dm | 分米 | decimeter
cm CM | 厘米 | centimeter
mm | 毫米 | millimeter
μm um | 微米 | micrometer
nm | 纳米 | nanometer
km^2 | 平方公里 | square kilometer
m^2 | 平方米 | square meter
cm^2 | 平方厘米 | square centimeter
mm^2 | 平方毫米 | square millimeter
km^3 | 立方公里 | cubic kilometer
m^3 | 立方米 | cubic meter
cm^3 | 立方厘米 | cubic centimeter
ha | 公顷 | hectare
kg KG Kg | 公斤 | kilogram
g | 克 | gram
mg | 毫克 | milligram
μg ug | 微克 | microgram
t | 吨 | ton
L l | 升 | liter
mL ml | 毫升 | milliliter
km/h kph kmh | 公里每小时 | kilometer per hour | kilometers per hour
m/s | 米每秒 | meter per second | meters per second
m/s^2 | 米每二次方秒 | meter per second squared | meters per second squared
mph | 英里每小时 | mile per hour | miles per hour
mi | 英里 | mile
ft | 英尺 | foot | feet
inch inches | 英寸 | inch | inches
yd | 码 | yard
lb lbs | 磅 | pound
oz | 盎司 | ounce
gal | 加仑 | gallon
tbsp | 汤匙 | tablespoon
tsp | 茶匙 | teaspoon
°C | 摄氏度 | degree Celsius | degrees Celsius
°F | 华氏度 | degree Fahrenheit | degrees Fahrenheit
° | 度 | degree
V | 伏 | volt
kV | 千伏 | kilovolt
mV | 毫伏 | millivolt
mA | 毫安 | milliamp
mAh | 毫安时 | milliamp hour
Ah | 安时 | amp hour
W | 瓦 | watt
kW KW | 千瓦 | kilowatt
MW | 兆瓦 | megawatt
GW | 吉瓦 | gigawatt
Wh | 瓦时 | watt hour
kWh KWh | 千瓦时 | kilowatt hour
Hz | 赫兹 | hertz | hertz
kHz KHz | 千赫兹 | kilohertz | kilohertz
MHz | 兆赫兹 | megahertz | megahertz
GHz | 吉赫兹 | gigahertz | gigahertz
Pa | 帕 | pascal
hPa | 百帕 | hectopascal
kPa | 千帕 | kilopascal
MPa | 兆帕 | megapascal
kJ | 千焦 | kilojoule
kcal | 千卡 | kilocalorie
cal | 卡 | calorie
dB db | 分贝 | decibel
Ω | 欧姆 | ohm
kΩ | 千欧 | kiloohm
MΩ | 兆欧 | megaohm
mol | 摩尔 | mole
mmHg | 毫米汞柱 | millimeter of mercury | millimeters of mercury
bpm BPM | 次每分 | beat per minute | beats per minute
rpm | 转每分 | revolution per minute | revolutions per minute
fps FPS | 帧每秒 | frame per second | frames per second
px | 像素 | pixel
h hr hrs | 小时 | hour
min mins | 分钟 | minute
s sec secs | 秒 | second
ms | 毫秒 | millisecond
μs us | 微秒 | microsecond
ns | 纳秒 | nanosecond
KB kB | KB | kilobyte
MB | MB | megabyte
GB | GB | gigabyte
TB | TB | terabyte
PB | PB | petabyte
Kbps kbps | Kbps | kilobit per second | kilobits per second
Mbps mbps | Mbps | megabit per second | megabits per second
Gbps gbps | Gbps | gigabit per second | gigabits per second
MB/s | MB每秒 | megabyte per second | megabytes per second
GB/s | GB每秒 | gigabyte per second | gigabytes per second
""")
"""Units by symbol; a raised number is written `^2`."""

CURRENCIES = _table("""
¥ CN¥ CNY RMB | 元 | yuan | yuan
$ US$ USD | 美元 | dollar
HK$ HKD | 港元 | Hong Kong dollar
NT$ TWD | 新台币 | New Taiwan dollar
A$ AU$ AUD | 澳元 | Australian dollar
C$ CA$ | 加元 | Canadian dollar
S$ SGD | 新加坡元 | Singapore dollar
€ EUR | 欧元 | euro
£ GBP | 英镑 | pound
JP¥ JPY | 日元 | yen | yen
₩ KRW | 韩元 | won | won
₹ INR | 卢比 | rupee
₽ RUB | 卢布 | ruble
฿ THB | 泰铢 | baht | baht
₫ VND | 越南盾 | dong | dong
₱ | 比索 | peso
CHF | 瑞士法郎 | Swiss franc
₿ | 比特币 | bitcoin
""")
"""Currencies by symbol and by code."""
