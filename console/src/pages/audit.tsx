import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Audit(): VNode {
  return (
    <>
      <PageHead title="Audit" />
      <Empty title="Nothing here yet." />
    </>
  );
}
