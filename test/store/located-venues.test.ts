// Tests of the search for venues by their coordinates.

import { expect } from 'chai';
import fc from 'fast-check';
import { CallerDatabase } from '../../src/store/caller-database.ts';
import { type Coordinates, distanceKm, locatedVenueIds } from '../../src/store/located-venues.ts';
import { Replica } from '../../src/store/replica.ts';
import { remove, upsert } from './changes.ts';
import { venue } from './sample-records.ts';

const at = (latitude: number, longitude: number): Coordinates => ({ latitude, longitude });
const RADIUS_KM = 6371.0088;
/** A quarter of a great circle, such as from a pole to the equator. */
const QUARTER_KM = (Math.PI / 2) * RADIUS_KM;

/** Another way to the distance: the angle between the two points as vectors, from the length of the chord. */
function chordDistanceKm(a: Coordinates, b: Coordinates): number {
  const vector = ({ latitude, longitude }: Coordinates) => {
    const [lat, lng] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
    return [Math.cos(lat) * Math.cos(lng), Math.cos(lat) * Math.sin(lng), Math.sin(lat)] as const;
  };
  const [p, q] = [vector(a), vector(b)];
  const chord = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  return 2 * RADIUS_KM * Math.asin(Math.min(1, chord / 2));
}

const latitude = fc.oneof(fc.constantFrom(-90, 0, 90), fc.double({ min: -90, max: 90, noNaN: true }));
const longitude = fc.oneof(fc.constantFrom(-180, 0, 180), fc.double({ min: -180, max: 180, noNaN: true }));
const position = fc.record({ latitude, longitude });

describe('the great-circle distance', () => {
  const KNOWN: [string, Coordinates, Coordinates, number][] = [
    ['nothing', at(52.5, 13.4), at(52.5, 13.4), 0],
    ['a degree along a meridian', at(10, 50), at(11, 50), QUARTER_KM / 90],
    ['a degree along the equator', at(0, -1), at(0, 0), QUARTER_KM / 90],
    ['from a pole to the equator', at(90, 123), at(0, -77), QUARTER_KM],
    ['over a pole', at(89, 0), at(89, 180), QUARTER_KM / 45],
    ['from pole to pole', at(90, 5), at(-90, 5), 2 * QUARTER_KM],
    ['at a pole, on any longitude', at(-90, 10), at(-90, -100), 0],
    ['across the antimeridian', at(0, 179.5), at(0, -179.5), QUARTER_KM / 90],
    ['of one meridian with two longitudes', at(40, 180), at(40, -180), 0],
    ['to the other side of the Earth', at(30, 20), at(-30, -160), 2 * QUARTER_KM],
  ];
  for (const [name, a, b, km] of KNOWN) {
    it(name, () => {
      expect(distanceKm(a, b)).to.be.closeTo(km, 1e-6);
      expect(distanceKm(b, a)).to.be.closeTo(km, 1e-6);
    });
  }

  it('equals the angle between two vectors', () => {
    fc.assert(
      // The length of the chord is inexact for points that are nearly opposite: a metre is enough here.
      fc.property(position, position, (a, b) => Math.abs(distanceKm(a, b) - chordDistanceKm(a, b)) < 0.001),
    );
  });
});

describe('the search for venues by coordinates', () => {
  it('finds the visible venues in the circle, whatever the circle contains', () => {
    const anyVenue = fc.record({
      latitude,
      longitude,
      isLocated: fc.constantFrom(true, true, true, false),
      status: fc.constantFrom('publish', 'publish', 'draft', 'trash'),
      protected: fc.constantFrom(false, false, false, true),
    });
    const circle = fc.record({
      center: position,
      distanceKm: fc.oneof(fc.constantFrom(0, 25, 20_038), fc.double({ min: 0, max: 20_038, noNaN: true })),
    });
    fc.assert(
      fc.property(
        fc.array(anyVenue, { minLength: 20, maxLength: 20 }),
        fc.array(circle, { minLength: 10, maxLength: 10 }),
        (places, searches) => {
          const replica = new Replica({ identity: 'test' });
          const venues = places.map(({ isLocated, latitude, longitude, ...fields }, index) =>
            venue(index + 1, { ...fields, ...(isLocated ? { latitude, longitude } : {}) }),
          );
          const isPublic = ({ status }: (typeof venues)[number]) => status === 'publish';
          upsert(replica, venues.filter(isPublic));
          const own = new CallerDatabase(replica.db, 0);
          own.add(venues.filter((record) => !isPublic(record)));
          const isFound = ({ status, protected: isProtected, latitude }: (typeof venues)[number]) =>
            latitude !== null && !isProtected && status !== 'trash';
          try {
            for (const circle of searches)
              for (const visible of [replica.db, own]) {
                const expected = venues.filter((record) => isFound(record) && (visible === own || isPublic(record)));
                const inCircle = expected.filter(
                  (place) => chordDistanceKm(circle.center, place as Coordinates) <= circle.distanceKm,
                );
                // The two formulas may differ by rounding for a venue on the circle itself.
                const onCircle = (id: number) =>
                  Math.abs(chordDistanceKm(circle.center, venues[id - 1] as Coordinates) - circle.distanceKm) < 0.001;
                const without = (ids: number[]) => ids.filter((id) => !onCircle(id));
                expect(without(locatedVenueIds(visible, circle))).to.deep.equal(without(inCircle.map(({ id }) => id)));
                expect(locatedVenueIds(visible)).to.deep.equal(expected.map(({ id }) => id));
              }
          } finally {
            replica.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('follows a venue that moves, gets a password, loses its coordinates or is deleted', () => {
    const replica = new Replica({ identity: 'test' });
    const near = () => locatedVenueIds(replica.db, { center: at(52.5, 13.4), distanceKm: 5 });
    const berlin = venue(1, { latitude: 52.52, longitude: 13.41 });
    for (const [record, found] of [
      [berlin, [1]],
      [{ ...berlin, latitude: 48.85, longitude: 2.35 }, []],
      [berlin, [1]],
      [{ ...berlin, protected: true }, []],
      [{ ...berlin, latitude: null, longitude: null }, []],
      [berlin, [1]],
    ] as const) {
      upsert(replica, [record]);
      expect(near()).to.deep.equal(found);
    }
    remove(replica, 'venue', [1]);
    expect(near()).to.deep.equal([]);
    replica.close();
  });
});
