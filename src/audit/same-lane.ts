interface LanePlace {
  readonly store: string;
  readonly lane: number;
}

/** Returns a test for whether something belongs to this lane of this store. */
export const isInLane =
  ({ store, lane }: LanePlace) =>
  (other: LanePlace): boolean =>
    other.store === store && other.lane === lane;
