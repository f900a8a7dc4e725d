/** An answer that is here already, as most are, or a promise of it. Who asks waits for promises only: each wait costs a short call. */
export type Soon<Value> = Value | Promise<Value>;
