// What a CMS can say of whether and how an event takes place: the words of the API, schema.org's addresses, and the
// words for people. `''` in a record: the CMS does not say.

export const EVENT_STATUSES = ['scheduled', 'cancelled', 'postponed', 'moved_online'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];
/** Where people attend: at the venue, online, or both. */
export const ATTENDANCE_MODES = ['offline', 'online', 'mixed'] as const;
export type AttendanceMode = (typeof ATTENDANCE_MODES)[number];

export const SCHEMA_STATUS: Readonly<Record<EventStatus, string>> = {
  scheduled: 'https://schema.org/EventScheduled',
  cancelled: 'https://schema.org/EventCancelled',
  postponed: 'https://schema.org/EventPostponed',
  moved_online: 'https://schema.org/EventMovedOnline',
};
export const SCHEMA_ATTENDANCE: Readonly<Record<AttendanceMode, string>> = {
  offline: 'https://schema.org/OfflineEventAttendanceMode',
  online: 'https://schema.org/OnlineEventAttendanceMode',
  mixed: 'https://schema.org/MixedEventAttendanceMode',
};
/** An event that takes place as announced needs no word. */
const LABELS: Readonly<Record<EventStatus, string>> = {
  scheduled: '',
  cancelled: 'Cancelled',
  postponed: 'Postponed',
  moved_online: 'Moved online',
};

/** The state of an event in a response of the API. */
export type ShownState = {
  event_status?: EventStatus;
  event_status_reason?: string;
  attendance_mode?: AttendanceMode;
  online_url?: string;
};

/** `Cancelled`, or nothing. */
export const stateLabel = ({ event_status: status }: ShownState): string => (status ? LABELS[status] : '');

/** `Cancelled: Storm`; the text alone if there is nothing to say of the event. */
export const withState = (event: ShownState, text: string): string =>
  [stateLabel(event), text].filter((part) => part !== '').join(': ');
