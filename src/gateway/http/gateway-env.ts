import type { HttpBindings } from '@hono/node-server';
import type { Authenticated } from '../authenticated.ts';

/** What every handler behind the guard finds in its context. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: {
    /** Who asks. There on every route that needs a token. */
    auth: Authenticated;
    /** Made here for each request; in the answer's header `Sallyport-Request` and in the access log. */
    requestId: string;
    /** Of the client, as far as it can be known: behind a trusted proxy, what that says. */
    address: string;
  };
}
