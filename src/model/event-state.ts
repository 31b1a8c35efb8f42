// What a CMS can say of whether and how an event takes place: the words of the API, schema.org's addresses, and the
// words of calendar files and for people. `''` in a record: the CMS does not say.

/**
 * `calendar`: STATUS in calendar files. A postponed event is tentative: CONFIRMED would promise its old date, and with
 * CANCELLED apps remove it. `label`: an event that takes place as announced needs none.
 */
export const EVENT_STATES = {
  scheduled: { schema: 'https://schema.org/EventScheduled', calendar: 'CONFIRMED', label: '' },
  cancelled: { schema: 'https://schema.org/EventCancelled', calendar: 'CANCELLED', label: 'Cancelled' },
  postponed: { schema: 'https://schema.org/EventPostponed', calendar: 'TENTATIVE', label: 'Postponed' },
  moved_online: { schema: 'https://schema.org/EventMovedOnline', calendar: 'CONFIRMED', label: 'Moved online' },
} as const;
export type EventStatus = keyof typeof EVENT_STATES;
export const EVENT_STATUSES = Object.keys(EVENT_STATES) as EventStatus[];

/** Where people attend: at the venue, online, or both. */
export const SCHEMA_ATTENDANCE = {
  offline: 'https://schema.org/OfflineEventAttendanceMode',
  online: 'https://schema.org/OnlineEventAttendanceMode',
  mixed: 'https://schema.org/MixedEventAttendanceMode',
} as const;
export type AttendanceMode = keyof typeof SCHEMA_ATTENDANCE;
export const ATTENDANCE_MODES = Object.keys(SCHEMA_ATTENDANCE) as AttendanceMode[];

export type ShownState = {
  event_status?: EventStatus;
  event_status_reason?: string;
  attendance_mode?: AttendanceMode;
  online_url?: string;
};

export const stateLabel = ({ event_status: status }: ShownState): string => (status ? EVENT_STATES[status].label : '');

/** `Cancelled: Storm`; the text alone if there is nothing to say of the event. */
export const withState = (event: ShownState, text: string): string =>
  [stateLabel(event), text].filter((part) => part !== '').join(': ');
