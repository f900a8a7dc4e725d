// Loaded into the conformance suite before its own code. Two checks of the suite give up after 500 and 600 ms. On a busy machine they would
// fail only because the server is slow, so their timeouts are made longer. A server that answers in time gets the same result.
const IMPATIENT = new Set([500, 600]);
const PATIENCE_MS = 30_000;

const { setTimeout: start } = globalThis;
globalThis.setTimeout = (callback, ms, ...args) => start(callback, IMPATIENT.has(ms) ? PATIENCE_MS : ms, ...args);
