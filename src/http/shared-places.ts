// Places that all clients share, such as open connections: no network holds more than a tenth of them.

/** A tenth: ten networks together can take all places. */
const SHARES = 10;

export class SharedPlaces {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(total: number) {
    this.#total = total;
  }

  get isFull(): boolean {
    return this.#taken >= this.#total;
  }

  /** How many places a network holds. */
  held(network: string): number {
    return this.#held.get(network) ?? 0;
  }

  /** Returns false, and takes nothing, if so many places are not free or are more than the network's share. */
  tryTake(network: string, places = 1): boolean {
    const isOverShare = this.held(network) + places > Math.ceil(this.#total / SHARES);
    if (isOverShare || this.#taken + places > this.#total) return false;
    this.take(network, places);
    return true;
  }

  /** Takes places whatever the limits say. */
  take(network: string, places = 1): void {
    this.#held.set(network, this.held(network) + places);
    this.#taken += places;
  }

  release(network: string, places = 1): void {
    const left = this.held(network) - places;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
    this.#taken -= places;
  }
}
