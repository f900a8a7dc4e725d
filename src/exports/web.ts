// `sallyport/web`: requests that cannot be led into the inner network. For tools that fetch addresses which strangers name.
export { hostAndPort, type Address, type WebRules } from '../base/http/check-target.ts';
export { guardedRequest, type WebRequest, type WebResponse } from '../base/http/guarded-request.ts';
export { isPublicAddress } from '../base/http/public-address.ts';
export { WebRefusal, type WebRefusalCode } from '../base/http/web-refusal.ts';
