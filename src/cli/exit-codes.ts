/** Exit codes; those above 64 are the ones of sysexits.h. */
export const EXIT = Object.freeze({
  ok: 0,
  /** The call ended otherwise than ok, or what was asked for was not done. */
  notOk: 1,
  usage: 2,
  unavailable: 69,
  internal: 70,
  auth: 77,
  config: 78,
  interrupted: 130,
});
