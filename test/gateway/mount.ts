// Paths and public URL of the gateways in tests.

export const PUBLIC_URL = 'https://calendar.example';
export const MOUNT = '/calendar/events/v1';
export const BASE = `${PUBLIC_URL}${MOUNT}`;
/** The mount of The Events Calendar, which existing clients call. */
export const ORIGINAL_MOUNT = '/wp-json/tribe/events/v1';
