import process from 'node:process';
import { expect, test } from 'vitest';
import { bundledNode } from './runtime.mjs';

/** A machine for which there is no package, with its own Node. */
const machine = (node) => ({ platform: 'aix', arch: 'ppc64', versions: { node }, execPath: '/its/own/node' });

test('the Node of the platform package is used', () => {
  const { platform, arch } = process;
  expect(bundledNode({ ...machine('20.0.0'), platform, arch })).toContain('node_modules');
});

test.each(['26.0.0', '26.1.3', '27.0.0', '100.0.0'])("without a package, the machine's own Node %s is used", (node) => {
  expect(bundledNode(machine(node))).toBe('/its/own/node');
});

test.each(['8.17.0', '20.19.4', '24.12.0', '25.9.9'])('without a package, Node %s is too old', (node) => {
  expect(() => bundledNode(machine(node))).toThrow(`Creel needs Node 26.0 or newer. This is ${node}`);
});
