/** Why a server cannot be used, in a few words that follow its name: `it did not answer within 60 s`. Never contains a secret. */
export class UpstreamProblem extends Error {
  override readonly name = 'UpstreamProblem';
}
