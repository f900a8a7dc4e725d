import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Grants(): VNode {
  return (
    <>
      <PageHead title="Grants" />
      <Empty title="Nothing here yet." />
    </>
  );
}
