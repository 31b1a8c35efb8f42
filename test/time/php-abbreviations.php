<?php
// Writes src/time/php-abbreviations.json: each zone abbreviation that PHP reads in a date text, and its minutes east of UTC.
//   php test/time/php-abbreviations.php > src/time/php-abbreviations.json
foreach ( DateTimeZone::listAbbreviations() as $abbreviation => $zones ) {
	$words[] = $abbreviation . ' ' . round( $zones[0]['offset'] / 60 );
}
echo "{\n  \"abbreviations\": ", json_encode( implode( ' ', $words ) ), "\n}\n";
