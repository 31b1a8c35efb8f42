<?php
// Prints test/time/php-relative.json: what PHP's strtotime answers to relative phrases on seven days, in four zones (Unix seconds, or
// false for a text that it refuses).
//   php test/time/php-relative.php > test/time/php-relative.json
// The week contains the end of daylight saving time in New York. In Auckland most of these instants are on the next day.

$zones   = array( 'UTC', 'America/New_York', 'Europe/Paris', 'Pacific/Auckland' );
$instants = array_map( static fn( int $day ) => gmmktime( 16, 26, 40, 10, 29 + $day, 2026 ), range( 0, 6 ) );

$days    = array( 'monday', 'thursday', 'friday', 'saturday', 'sunday' );
$phrases = array();
foreach ( $days as $day ) {
	foreach ( array( '%s', 'next %s', 'last %s', 'this %s', 'previous %s', '%s next week', '%s this week', '%s last week' ) as $form ) {
		$phrases[] = sprintf( $form, $day );
	}
}
array_push(
	$phrases,
	'now', 'today', 'midnight', 'noon', 'tomorrow', 'yesterday', 'tomorrow noon', 'noon tomorrow', 'yesterday 14:00', '14:00 yesterday', 'today 5pm',
	'next week', 'this week', 'last week', 'previous week', 'next month', 'last month', 'this month', 'next year', 'last year',
	'next friday 20:00', '20:00 next friday', 'next thursday 20:00', 'friday next week 19:30', '19:30 friday next week', 'previous week friday',
	'friday next month', 'next month friday', 'friday noon', 'sat 10:00 +1 week', 'saturday this week 10am', 'first friday', 'second friday', 'third thursday',
	'twelfth monday', 'eight sunday', '+1 friday', '+2 friday', '-1 friday', '-2 sundays', '2 fridays ago', '1 sunday ago', 'friday ago', 'monday 2 weeks ago',
	'+1 day', '-1 day', '+1 week', '+1 week 2 days 4 hours 2 seconds', '+1 month', '-1 month', '-13 months', '+2 years', '1 month ago', '3 days ago 12:00',
	'2 weeks 1 day ago', '+1 week -1 day', '--2 days', '-+2 days', '+ 3 days', '+2 hours', '-90 minutes', '10 sec ago', '36 hours', '+1 fortnight', 'next fortnight',
	'last forthnight', 'first day of', 'last day of', 'first day of next month', 'last day of next month noon',
	'first day of this month midnight', 'last day of february', 'first day of january 2028', 'last day of february 2028', 'first day of -1 month',
	'first day of last year', 'first monday of january 2027', 'last friday of november 2026', 'third friday of next month', 'first sunday of this month',
	'second tue of', 'last sat of July 2028 20:00', 'fifth friday of next month', 'last thursday of last month 19:00', 'first monday of +1 month',
	'next monday of january', 'previous sunday of march 2027', 'this friday of may 2027',
	'Sunday, 10:00', 'FRIDAY NEXT WEEK', 'yesterday +1 week', '+1 week yesterday', 'tomorrow +2 hours', '2027-03-01 next friday', '1 march 2027 +1 week',
	'monday 2027-03-01', 'sun 2027-03-01', '2027-W10', '2027-W10-5 18:00', '2027W537', '@86400', '@86400 +1 day', '@1.5', '2027', '10:00 2027',
	'may 5', 'may 5 2028', '14 III 2027', '1 X 2027', 'next friday UTC', 'today Europe/Berlin', 'tomorrow 10:00 EST', '10:00 GMT+2 tomorrow', '5pm -0300',
	// Refused.
	'next', 'friday week', 'third week', '+1 sennight', 'next fortnight day', 'friday next', '10:00 11:00', '2027-01-01 2027-01-02', 'may 5 noon', 'noon noon 10:00',
	'tomorrow in paris', '25:00', 'next foo', '1 x 2027', 'in 2 days', 'last day', 'day after tomorrow', '10:00 EST CET MET'
);

$phrases = array_values( array_unique( $phrases ) );
$answers = array();
foreach ( $phrases as $phrase ) {
	foreach ( $zones as $zone ) {
		date_default_timezone_set( $zone );
		foreach ( $instants as $instant ) {
			$answers[ $phrase ][] = strtotime( $phrase, $instant );
		}
	}
	$lines[] = json_encode( $phrase, JSON_UNESCAPED_SLASHES ) . ': ' . json_encode( $answers[ $phrase ] );
}
$head = json_encode( array( 'php' => PHP_VERSION, 'zones' => $zones, 'instants' => $instants ), JSON_UNESCAPED_SLASHES );
echo rtrim( $head, '}' ), ", \"answers\": {\n", implode( ",\n", $lines ), "\n}}\n";
