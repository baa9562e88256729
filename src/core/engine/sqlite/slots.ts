/** At most `size` handlers at work. Whoever comes back from waiting goes before everything new. */
export interface Slots {
  /** How many may start now. */
  vacant(): number;
  take(): Slot;
}

/** The place of one run. */
export interface Slot {
  /**
   * Pending `work` occupies no slot, several at once neither. On return it waits for one, unless the signal is aborted: then it only
   * has to end.
   */
  away<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Whether a new run may have the place at once. */
  isInheritable(): boolean;
  /** The run has ended. A second call does nothing. */
  free(): void;
}

interface Seats {
  vacant(): number;
  sit(): void;
  leave(): void;
  comeBack(signal: AbortSignal): Promise<void>;
  isWanted(): boolean;
}

export function createSlots(size: number, onVacant: () => void): Slots {
  const seats = createSeats(size, onVacant);
  return {
    vacant: () => seats.vacant(),
    take() {
      seats.sit();
      return createSlot(seats);
    },
  };
}

function createSlot(seats: Seats): Slot {
  let away = 0;
  let held = true;
  let ended = false;
  let coming: Promise<void> | undefined;

  const giveBack = (): void => {
    if (!held) return;
    held = false;
    seats.leave();
  };

  const arrive = (): void => {
    coming = undefined;
    // In the meantime the run may have ended or left again.
    if (ended || away > 0) seats.leave();
    else held = true;
  };

  /** However many calls come back at the same time: the run needs one seat. */
  const takeBack = async (signal: AbortSignal): Promise<void> => {
    if (away > 0 || ended || held) return;
    coming ??= seats.comeBack(signal).then(arrive);
    await coming;
  };

  return {
    async away(work, signal) {
      away += 1;
      giveBack();
      try {
        return await work();
      } finally {
        away -= 1;
        await takeBack(signal);
      }
    },
    isInheritable: () => held && !seats.isWanted(),
    free() {
      ended = true;
      giveBack();
    },
  };
}

function createSeats(size: number, onVacant: () => void): Seats {
  let used = 0;
  /** Somebody is here only while every seat is used. */
  const returning: (() => void)[] = [];

  return {
    vacant: () => size - used,
    sit() {
      used += 1;
    },
    leave() {
      used -= 1;
      if (used >= size) return;
      const first = returning.shift();
      if (first) first();
      else onVacant();
    },
    isWanted: () => returning.length > 0,
    comeBack(signal) {
      if (used < size || signal.aborted) {
        used += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const arrive = (): void => {
          signal.removeEventListener("abort", hurry);
          used += 1;
          resolve();
        };
        const hurry = (): void => {
          returning.splice(returning.indexOf(arrive), 1);
          used += 1;
          resolve();
        };
        signal.addEventListener("abort", hurry, { once: true });
        returning.push(arrive);
      });
    },
  };
}
