// `sallyport/web`: HTTP requests that reach only public addresses and those that the operator allows, even after a redirect. For tools that
// fetch addresses which untrusted users name.
export { hostAndPort, type Address, type WebRules } from '../base/http/check-target.ts';
export { guardedRequest, type WebRequest, type WebResponse } from '../base/http/guarded-request.ts';
export { isPublicAddress } from '../base/http/public-address.ts';
export { WebRefusal, type WebRefusalCode } from '../base/http/web-refusal.ts';
