/** Traps at PyPI. */
import { html, status } from '../destinations/faults.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY_MS, MINUTE_MS, type Row, registryTrap, type World } from './world.ts'

const pypi = registryTrap('pypi')
const AMBIGUOUS = 'unverifiable/claim_ambiguous'

const rows: readonly Row[] = [
  {
    name: 'uploaded under another spelling of its name',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      return { target: `pypi:${name.replace('-', '__').toUpperCase()}`, facts: { version: '1.0.0' } }
    },
  },
  {
    name: 'another spelling of its version',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0rc1')
      return { params: { version: 'v1.0.0-RC.1' }, facts: { version: '1.0.0rc1' } }
    },
  },
  {
    name: 'zeros at the end of its version',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      return { params: { version: '1.0' }, facts: { version: '1.0.0' } }
    },
  },
  {
    name: 'the digest of one of two files, and the version is yanked',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      const integrity = world.pypi.upload(name, '1.0.0', { kind: 'cp312-linux.whl' })
      world.pypi.yank(name, '1.0.0')
      return { params: { integrity }, facts: { yanked: true, integrity_by: 'registry' } }
    },
  },
  {
    name: 'the digest of none of its files',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      return { params: { integrity: 'ab'.repeat(32) } }
    },
  },
  {
    name: 'the file with the digest is uploaded after the first one',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      // What the agent computed before it uploaded.
      const integrity = world.pypi.digestOf(name, '1.0.0', 'cp312-linux.whl', 'second')
      const meanwhile = async () => {
        world.pypi.upload(name, '1.0.0', { content: 'second', kind: 'cp312-linux.whl' })
      }
      return { params: { integrity }, meanwhile, afterMs: MINUTE_MS }
    },
  },
  {
    name: 'a version that was never uploaded',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '0.9.0')
      return { facts: { package_listed: true } }
    },
  },
  {
    name: 'a project that there is not',
    truth: 'never',
    verdict: 'failed/not_found',
    client: 'anonymous',
    set: () => ({ facts: { package_listed: false } }),
  },
  {
    name: 'deleted again before a first read that was not prompt',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '0.9.0')
      world.pypi.upload(name, '1.0.0')
      world.pypi.remove(name, '1.0.0')
      return world.times(9 * MINUTE_MS, MINUTE_MS)
    },
  },
  {
    name: 'all its files are deleted',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      world.pypi.remove(name, '1.0.0', { keepsRelease: true })
      return {}
    },
  },
  {
    name: 'its first file is deleted, the second came late, and the first read was not prompt',
    truth: 'in_time',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      // The first one was there an hour ago.
      world.pypi.upload(name, '1.0.0', { at: world.clock.now() - MINUTE_MS, kind: 'cp312-linux.whl' })
      return world.times(-5 * MINUTE_MS, 20 * MINUTE_MS)
    },
  },
  {
    name: 'uploaded late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '0.9.0')
      return {
        meanwhile: async () => void world.pypi.upload(name, '1.0.0'),
        afterMs: 12 * MINUTE_MS,
        ...world.now(8 * MINUTE_MS),
      }
    },
  },
  {
    name: 'there for a month',
    truth: 'in_time',
    verdict: 'verified',
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0', { at: world.clock.now() - 30 * DAY_MS })
      return { facts: { preexisting: true } }
    },
  },
  {
    name: 'no version',
    truth: 'never',
    verdict: '422',
    client: 'anonymous',
    set: () => ({ params: { version: '1.0.0-beta-build' } }),
  },
  {
    name: 'a digest of a kind that PyPI does not tell',
    truth: 'unknowable',
    verdict: '422',
    client: 'anonymous',
    set: () => ({ params: { integrity: `sha512-${'A'.repeat(86)}==` } }),
  },
  {
    name: 'a page in place of the project, when the version is not there',
    truth: 'never',
    verdict: AMBIGUOUS,
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '0.9.0')
      world.pypi.faults.inject({ fault: html(), on: new RegExp(`/simple/${name}/`) })
      return world.soonest()
    },
  },
  {
    name: '503 when the version is asked for',
    truth: 'in_time',
    verdict: 'unverifiable/destination_unavailable',
    forgets: true,
    client: 'anonymous',
    set({ world, name }) {
      world.pypi.upload(name, '1.0.0')
      world.pypi.faults.inject({ fault: status(503), on: new RegExp(`/pypi/${name}/`) })
      return world.soonest()
    },
  },
]

export const pypiTraps: readonly Trap<World>[] = rows.map(pypi)
