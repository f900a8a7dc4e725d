import type { Hono } from 'hono';
import type { GatewayEnv } from './gateway-env.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The methods that a path has routes for; empty if the path does not exist. Middleware matches every method and does not count. */
export function allowedMethods(app: Hono<GatewayEnv>, path: string): string[] {
  const allowed = METHODS.filter((method) => {
    const [handlers] = app.router.match(method, path);
    return handlers.some(([[, route]]) => route.method === method);
  });
  return allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
