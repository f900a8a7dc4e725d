export type WebRefusalCode =
  | 'URL_INVALID'
  | 'URL_REFUSED'
  | 'ADDRESS_REFUSED'
  | 'HOST_UNKNOWN'
  | 'TOO_MANY_REDIRECTS'
  | 'REDIRECT_REFUSED'
  | 'NO_ANSWER';

/**
 * Why a request was not sent, or got no usable answer. The message can be shown to a model: it contains no address of an internal network.
 */
export class WebRefusal extends Error {
  override readonly name = 'WebRefusal';
  readonly code: WebRefusalCode;

  constructor(code: WebRefusalCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** A rule forbids this URL or address: nothing was sent to it. */
  get isDenial(): boolean {
    return this.code === 'URL_REFUSED' || this.code === 'ADDRESS_REFUSED';
  }
}
