import { addRoute, EVERY_SCOPE, type Api, type ApiNeeds } from './api-route.ts';
import { meSchema, type MeView } from './me-schema.ts';

export function addMe(api: Api, { plane }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/me',
      scopes: EVERY_SCOPE,
      tag: 'tokens',
      summary: 'Who the bearer of this request is, and what it may do',
      answers: { 200: { description: 'Who you are.', schema: meSchema } },
    },
    (context) => {
      const { name, scopes, identity, decidesAs, unattended, expiresAt } = context.get('auth');
      const me: MeView = {
        name,
        scopes: [...scopes],
        ...(identity === undefined ? {} : { identity }),
        ...(decidesAs === undefined ? {} : { decidesAs }),
        ...(unattended === undefined ? {} : { unattended }),
        expiresAt,
        gatewayId: plane.gatewayId,
        release: plane.operations.release,
      };
      return context.json(me);
    },
  );
}
