import type { CarryingStorage } from "../../src/core/storage/storage.ts";

/** What a store must supply to be put through the contracts. */
export interface StorageHarness {
  /** A fresh store; everything is closed and removed after the test. */
  open(): Promise<OpenedStorage>;
  /** Why a sentence does not hold for this store, by the words of its title. */
  readonly exempt: Partial<Record<Exemption, string>>;
}

export type Exemption = "survives" | "closed" | "all or nothing";

export interface OpenedStorage {
  readonly storage: CarryingStorage;
  /** Closes and opens it again. */
  reopen(): Promise<CarryingStorage>;
  close(): void;
  /** Puts half a JSON text under a key of the store. */
  damage(key: string): void;
  /** From now on the store answers nothing. */
  breakStore(): void;
  /** Everything that is stored, byte for byte. */
  contents(): string;
}
