interface LanePlace {
  readonly store: string;
  readonly lane: number;
}

/** Whether something is about this lane of this store. */
export const isInLane =
  ({ store, lane }: LanePlace) =>
  (other: LanePlace): boolean =>
    other.store === store && other.lane === lane;
