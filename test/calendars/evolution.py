"""Prints the events that Evolution Data Server has of a calendar: title, start and end in a zone, separated by tabs.

Arguments: the id of the calendar, the name of the zone.
"""

import datetime
import sys
import time

import gi

gi.require_version("ECal", "2.0")
gi.require_version("EDataServer", "1.2")
gi.require_version("ICalGLib", "3.0")
from gi.repository import ECal, EDataServer, ICalGLib

calendar, zone_name = sys.argv[1:]
zone = ICalGLib.Timezone.get_builtin_timezone(zone_name)
registry = EDataServer.SourceRegistry.new_sync(None)
client = ECal.Client.connect_sync(registry.ref_source(calendar), ECal.ClientSourceType.EVENTS, 10, None)
client.refresh_sync(None)


def shown(component, at, kind):
    """The wall time in the zone, as the server's own copy of the file's time zones gives it."""
    if at.is_date():
        date = datetime.date(at.get_year(), at.get_month(), at.get_day())
        is_end = kind == ICalGLib.PropertyKind.DTEND_PROPERTY
        return str(date - datetime.timedelta(days=1) if is_end else date)
    tzid = component.get_first_property(kind).get_first_parameter(ICalGLib.ParameterKind.TZID_PARAMETER)
    at_zone = client.get_timezone_sync(tzid.get_tzid(), None)[1] if tzid else ICalGLib.Timezone.get_utc_timezone()
    at.set_timezone(at_zone)
    wall = at.convert_to_zone(zone)
    return "%04d-%02d-%02d %02d:%02d" % (
        wall.get_year(),
        wall.get_month(),
        wall.get_day(),
        wall.get_hour(),
        wall.get_minute(),
    )


# The server fetches the file in the background.
components = []
for attempt in range(100):
    components = client.get_object_list_sync("#t", None)[1]
    if components:
        break
    time.sleep(0.1)
for component in components:
    start = shown(component, component.get_dtstart(), ICalGLib.PropertyKind.DTSTART_PROPERTY)
    end = shown(component, component.get_dtend(), ICalGLib.PropertyKind.DTEND_PROPERTY)
    print(component.get_summary(), start, end, sep="\t")
