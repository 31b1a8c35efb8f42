"""Prints src/time/zone-letters.json. The tz database of the package tzdata (2026d when last run) counts before the one of the system:

    pip install tzdata && PYTHONTZPATH= python3 test/time/zone-letters.py > src/time/zone-letters.json

One entry per set of letters: "CET 60 CEST 120" (letters, minutes east of UTC) and the zones that use them.
The last letters an offset had between 2000 and 2037 count. Zones without letters stand under the empty key.
"""
import collections
import datetime
import json
import zoneinfo

groups = collections.defaultdict(list)
for name in sorted(zoneinfo.available_timezones() - {"Factory", "localtime"}):
    zone = zoneinfo.ZoneInfo(name)
    letters = {}
    moment = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
    while moment.year < 2038:
        wall = moment.astimezone(zone)
        letters[int(wall.utcoffset().total_seconds() // 60)] = wall.tzname()
        moment += datetime.timedelta(days=7)
    key = " ".join(f"{text} {minutes}" for minutes, text in sorted(letters.items()) if text[0].isalpha())
    groups[key].append(name)
print(json.dumps({key: " ".join(names) for key, names in sorted(groups.items())}, indent=2))
