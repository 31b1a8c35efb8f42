"""Writes recurring.ics and, expanded by Python's icalendar and recurring-ical-events, recurring.json.

/usr/bin/python3 test/cms/sources/expand.py     (apt-get install python3-icalendar python3-recurring-ical-events)
"""

import datetime
import json
import pathlib

import icalendar
import recurring_ical_events

FOLDER = pathlib.Path(__file__).parents[2] / "fixtures" / "sources"
ZONES = {"B": "Europe/Berlin", "N": "America/New_York", "A": "Pacific/Auckland"}
# name, DTSTART, the end, further lines; @ stands for the zone's parameter
SERIES = [
    ("daily", "20261201T180000", "DURATION:PT90M", ["RRULE:FREQ=DAILY"]),
    ("night", "20261201T220000", "DTEND@:20261202T060000", ["RRULE:FREQ=DAILY"]),
    ("third", "20260102T093000", "DURATION:PT1H", ["RRULE:FREQ=DAILY;INTERVAL=3;COUNT=300"]),
    ("weekdays", "20270104T120000", "DURATION:PT1H", ["RRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20280630T235959Z"]),
    ("winter", "20200101T120000", "DURATION:PT1H", ["RRULE:FREQ=DAILY;BYMONTH=1,2;BYMONTHDAY=1,-1"]),
    ("weekly", "20200107T193000", "DTEND@:20200107T213000", ["RRULE:FREQ=WEEKLY"]),
    ("pair", "20270105T193000", "DURATION:PT2H", ["RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO"]),
    ("pairsu", "20270105T193000", "DURATION:PT2H", ["RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU"]),
    ("summerweeks", "20270501T100000", "DURATION:PT2H", ["RRULE:FREQ=WEEKLY;BYMONTH=6,7,8;BYDAY=SA"]),
    ("monthly", "20260115T080000", "DURATION:P1DT2H", ["RRULE:FREQ=MONTHLY"]),
    ("month31", "20260131T080000", "DURATION:PT2H", ["RRULE:FREQ=MONTHLY"]),
    ("last", "20260131T080000", "DURATION:PT2H", ["RRULE:FREQ=MONTHLY;BYMONTHDAY=-1"]),
    ("second", "20260113T193000", "DURATION:PT2H", ["RRULE:FREQ=MONTHLY;BYDAY=2TU"]),
    ("lastfriday", "20260130T193000", "DURATION:PT2H", ["RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=30"]),
    ("thirteenth", "20260213T193000", "DURATION:PT2H", ["RRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"]),
    ("workday", "20260130T093000", "DURATION:PT1H", ["RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"]),
    ("quarter", "20250101T093000", "DURATION:PT1H", ["RRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=1MO,3WE"]),
    ("yearly", "20200630T200000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY"]),
    ("leap", "20200229T200000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY"]),
    ("thanks", "20201126T120000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"]),
    ("yearday", "20200101T120000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY;BYYEARDAY=1,100,-1"]),
    ("monday9", "20200518T120000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY;BYDAY=+9MO,-1SU"]),
    ("setyear", "20200106T120000", "DURATION:PT3H", ["RRULE:FREQ=YEARLY;BYDAY=MO;BYMONTH=1,7;BYSETPOS=1,-1"]),
    ("twice", "20261201T100000", "DURATION:PT1H", ["RRULE:FREQ=WEEKLY;BYDAY=MO,SA;BYHOUR=10,15;BYMINUTE=0,30"]),
    ("until", "20270301T193000", "DURATION:PT1H", ["RRULE:FREQ=WEEKLY;UNTIL=20271101T183000Z"]),
    ("except", "20270105T193000", "DURATION:PT1H",
     ["RRULE:FREQ=WEEKLY", "EXDATE@:20270112T193000,20270330T193000", "EXDATE@:20271102T193000"]),
    ("more", "20270105T193000", "DURATION:PT1H",
     ["RRULE:FREQ=MONTHLY", "RDATE@:20270120T193000,20270706T203000", "EXDATE@:20270505T193000"]),
    ("dates", "20270105T193000", "DURATION:PT1H", ["RDATE@:20270120T193000,20270705T203000,20280101T000000"]),
    ("changed", "20270105T193000", "DURATION:PT1H", ["RRULE:FREQ=WEEKLY;COUNT=60"]),
]
CHANGES = [
    ("changed", "20270119T193000", "20270120T203000", []),
    ("changed", "20270330T193000", "20270330T183000", ["STATUS:CANCELLED"]),
    ("changed", "20271102T193000", "20271101T233000", []),
]
DAYS = [
    ("holiday", "20200101", "DTEND;VALUE=DATE:20200102", ["RRULE:FREQ=YEARLY"]),
    ("weekend", "20270102", "DTEND;VALUE=DATE:20270104", ["RRULE:FREQ=WEEKLY;INTERVAL=3;UNTIL=20280301"]),
    ("fair", "20260904", "DURATION:P3D", ["RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=1FR", "EXDATE;VALUE=DATE:20270903"]),
]


def lines():
    yield from ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//calendar-gateway//test//EN"]
    for letter, zone in ZONES.items():
        for name, start, end, more in SERIES:
            yield from ["BEGIN:VEVENT", f"UID:{name}-{letter}", f"SUMMARY:{name}", f"DTSTART@:{start}", end, *more]
            yield f"END:VEVENT@{zone}"
        for name, instance, start, more in CHANGES:
            yield from ["BEGIN:VEVENT", f"UID:{name}-{letter}", f"SUMMARY:{name}", f"RECURRENCE-ID@:{instance}"]
            yield from [f"DTSTART@:{start}", "DURATION:PT2H", *more, f"END:VEVENT@{zone}"]
    for name, start, end, more in DAYS:
        yield from ["BEGIN:VEVENT", f"UID:{name}", f"SUMMARY:{name}", f"DTSTART;VALUE=DATE:{start}", end, *more]
        yield "END:VEVENT"
    yield "END:VCALENDAR"


def in_zones(texts):
    event = []
    for text in texts:
        event.append(text)
        if text.startswith("END:VEVENT"):
            zone = text.partition("@")[2]
            event[-1] = "END:VEVENT"
            for each in event:
                yield each.replace("@:", f";TZID={zone}:")
            event = []
    yield from event


def utc(time):
    if isinstance(time, datetime.datetime):
        return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    return time.isoformat()


feed = "\r\n".join([*in_zones(lines()), ""])
(FOLDER / "recurring.ics").write_bytes(feed.encode())
calendar = icalendar.Calendar.from_ical(feed)
events = recurring_ical_events.of(calendar).between((2026, 12, 20), (2029, 1, 10))
times = sorted([str(e["UID"]), utc(e["DTSTART"].dt), utc(e["DTEND"].dt)] for e in events)
times = [each for each in times if "2027-01-02" <= each[1] < "2028-12-31"]
by_uid = {}
for uid, start, end in times:
    by_uid.setdefault(uid, []).append(f"{start}/{end}" if " " not in start else f"{start}/{end[8:]}")
rows = ",\n".join(f"{json.dumps(uid)}: {json.dumps(each, separators=(',', ':'))}" for uid, each in by_uid.items())
(FOLDER / "recurring.json").write_text(f"{{\n{rows}\n}}\n")
print(len(times), "events")
