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

  /**
   * Returns false, and takes nothing, if no place is free or the network has its share.
   * @param mayHoldAll for a proxy, through which all clients come
   */
  tryTake(network: string, mayHoldAll = false): boolean {
    const held = this.held(network);
    if (this.isFull || (!mayHoldAll && held >= Math.ceil(this.#total / SHARES))) return false;
    this.#held.set(network, held + 1);
    this.#taken += 1;
    return true;
  }

  release(network: string): void {
    const left = this.held(network) - 1;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
    this.#taken -= 1;
  }
}
