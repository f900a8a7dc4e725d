export type WebRefusalCode =
  | 'URL_INVALID'
  | 'URL_REFUSED'
  | 'ADDRESS_REFUSED'
  | 'HOST_UNKNOWN'
  | 'TOO_MANY_REDIRECTS'
  | 'REDIRECT_REFUSED'
  | 'NO_ANSWER';

/** Why a request was not made, or got no answer. The message is fit for a model: it names no address of an inner network. */
export class WebRefusal extends Error {
  override readonly name = 'WebRefusal';
  readonly code: WebRefusalCode;

  constructor(code: WebRefusalCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** A rule forbids it: nothing was sent. */
  get isDenial(): boolean {
    return this.code === 'URL_REFUSED' || this.code === 'ADDRESS_REFUSED';
  }
}
