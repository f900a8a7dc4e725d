import type { Policy } from 'sallyport/testing';

type GatePart = Partial<Pick<Policy, 'rules' | 'loops'>>;

/** Three rules that apply to the tool and have to check its arguments; none of them matches. Loop detection has its default settings. */
export const GATED: GatePart = {
  rules: [
    { id: 'far-ids', verdict: 'deny', tools: ['bench.*'], arguments: [{ at: '/id', range: { max: -1 } }] },
    { id: 'passwords', verdict: 'deny', effects: ['read'], arguments: [{ at: '/text', pattern: 'password=\\w+' }] },
    { id: 'orders', verdict: 'ask', agents: ['bench'], arguments: [{ at: '/text', prefix: 'order ' }] },
  ],
};

export const CLOSED_DOWN: GatePart = { loops: { default: { enabled: false } } };
