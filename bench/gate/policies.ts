import type { Policy } from 'sallyport/testing';

type GatePart = Partial<Pick<Policy, 'rules' | 'loops'>>;

/** Three rules that are about the tool and have to look at its arguments; none of them matches. Loops as they are by default. */
export const GATED: GatePart = {
  rules: [
    { id: 'far-ids', verdict: 'deny', tools: ['bench.*'], arguments: [{ at: '/id', range: { max: -1 } }] },
    { id: 'passwords', verdict: 'deny', effects: ['read'], arguments: [{ at: '/text', pattern: 'password=\\w+' }] },
    { id: 'orders', verdict: 'ask', agents: ['bench'], arguments: [{ at: '/text', prefix: 'order ' }] },
  ],
};

export const CLOSED_DOWN: GatePart = { loops: { default: { enabled: false } } };
