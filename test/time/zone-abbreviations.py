"""Prints src/time/zone-abbreviations.json. It uses the tz database of the package tzdata (2026d when last run), not the system's:

    pip install tzdata && PYTHONTZPATH= python3 test/time/zone-abbreviations.py > src/time/zone-abbreviations.json

One entry per set of abbreviations: "CET 60 CEST 120" (abbreviation, minutes east of UTC) and the zones that use them.
If an offset had several abbreviations between 2000 and 2037, the last one counts. Zones without any are under the empty key.
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
