// `sallyport/web`: requests that cannot be led into the inner network. For tools that fetch addresses which strangers name.
export { hostAndPort, type Address, type WebRules } from '../http/check-target.ts';
export { guardedRequest, type WebRequest, type WebResponse } from '../http/guarded-request.ts';
export { isPublicAddress } from '../http/public-address.ts';
export { WebRefusal, type WebRefusalCode } from '../http/web-refusal.ts';
