// Test run: slow
/** The plugin passes the conformance kit at Debian's docker-registry, open and with an issuer of tokens at another origin. */

import { type Destination, type GivenConnection, verifierConformance } from '@claimcheck/core/testkit'
import container from '@claimcheck/plugin-container'
import t from 'tap'
import { findProgram } from '../../../test/support/programs.ts'
import { DockerRegistry, imageOf, indexOf } from './docker-registry.ts'

t.setTimeout(500_000)

const MINUTE = 60_000
const HOST = 'registry.example.com:5000'
const NAME = 'acme/api'
const PASSWORD = 'a-password-that-pulls'

const [before, pushed, arm] = [imageOf('before'), imageOf('pushed'), imageOf('pushed', 'linux/arm64/v8')]
const attestation = imageOf('attestation', 'unknown/unknown')
const single = indexOf(
  { ...pushed, platform: 'linux/amd64' },
  { ...attestation, platform: 'unknown/unknown', isAttestation: true },
)
const double = indexOf({ ...pushed, platform: 'linux/amd64' }, { ...arm, platform: 'linux/arm64' })

type Situation = 'empty' | 'not pushed' | 'pushed' | 'other image' | 'taken over' | 'single' | 'double'

function registryOf(program: string, given: (password: string | undefined) => string | undefined) {
  let registry: DockerRegistry
  const destination: Destination<Situation> = {
    async start({ now }) {
      registry = await DockerRegistry.start(program, { now, password: given(PASSWORD)! })
      return { url: registry.url, stop: () => registry.close() }
    },
    async set(situation) {
      await registry.clear()
      if (situation === 'empty') return
      await registry.push(NAME, '0.9.0', before)
      if (situation === 'pushed') await registry.push(NAME, '1.0.0', pushed)
      if (situation === 'other image' || situation === 'taken over') await registry.push(NAME, '1.0.0', before)
      if (situation === 'taken over') await registry.push(NAME, pushed.digest, pushed)
      if (situation === 'single' || situation === 'double') {
        for (const one of [pushed, arm, attestation]) await registry.push(NAME, one.digest, one)
        await registry.push(NAME, '1.0.0', situation === 'single' ? single : double)
      }
    },
  }
  return { destination, issuer: () => registry.issuer }
}

const program = findProgram('docker-registry')
const skip = program === undefined && 'there is no docker-registry: apt-get install docker-registry'
const base_url = `http://${HOST}`

function claimOf(digest: string, platforms?: readonly string[], tag = '1.0.0') {
  return { target: `${HOST}/${NAME}`, params: { tag, digest, ...(platforms && { platforms: [...platforms] }) } }
}

const absentRoutes = [/manifests\/1\.0\.0$/, /manifests\/sha256/]

t.test('at an open registry', { skip }, async (t) => {
  const { destination } = registryOf(program!, () => undefined)
  const common = { claim: claimOf(pushed.digest), absentRoutes }
  await verifierConformance(t, {
    plugin: container,
    connection: { provider: 'oci', options: { base_url }, target: NAME },
    destination,
    before: 'not pushed',
    cases: [
      {
        ...common,
        name: 'the tag is the claimed image',
        situation: 'pushed',
        sees: { kind: 'present', facts: { tag: '1.0.0', found_digest: pushed.digest, undated: true } },
        verdict: 'verified',
      },
      {
        ...common,
        name: 'the tag comes after the tolerance',
        situation: 'not pushed',
        changes: [{ afterMs: 12 * MINUTE, situation: 'pushed' }],
        sees: { kind: 'absent', facts: {} },
        verdict: 'late',
      },
      {
        ...common,
        name: 'there is no such tag',
        situation: 'not pushed',
        sees: { kind: 'absent', facts: {} },
        verdict: 'failed',
      },
      {
        ...common,
        name: 'the tag is another image, and the claimed one was never pushed',
        situation: 'other image',
        sees: { kind: 'present', differs: ['digest'], facts: { tag: '1.0.0', found_digest: before.digest } },
        verdict: 'mismatch',
      },
      {
        ...common,
        name: 'the tag is another image, and the claimed one is there, too',
        situation: 'taken over',
        extraRoutes: [/manifests\/sha256/],
        sees: { kind: 'present', differs: ['digest'], mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
      {
        ...common,
        name: 'the repository is not there, or hidden',
        situation: 'empty',
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
      {
        name: 'the tag is an index with the claimed platforms',
        situation: 'double',
        claim: claimOf(double.digest, ['linux/arm64/v8', 'linux/amd64']),
        sees: { kind: 'present', facts: { platforms_found: 'linux/amd64, linux/arm64', platforms_missing: 0 } },
        verdict: 'verified',
      },
      {
        name: 'the tag is an index without a claimed platform',
        situation: 'double',
        claim: claimOf(double.digest, ['linux/s390x', 'linux/amd64']),
        sees: { kind: 'present', differs: ['platforms'], facts: { platforms_missing: 1 }, mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'the tag is an index of several images, and the claim names one of them',
        situation: 'double',
        claim: claimOf(arm.digest),
        extraRoutes: [/manifests\/sha256/],
        sees: { kind: 'present', differs: ['digest'], facts: { found_digest: double.digest }, mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
      {
        name: 'the tag is an index of one image and its attestation, and the claim names the image',
        situation: 'single',
        claim: claimOf(pushed.digest, ['linux/amd64']),
        sees: { kind: 'present', facts: { found_digest: pushed.digest, index_digest: single.digest } },
        verdict: 'verified',
      },
      {
        name: 'the claim names the attestation',
        situation: 'single',
        claim: claimOf(attestation.digest),
        sees: { kind: 'present', differs: ['digest'], facts: { found_digest: single.digest } },
        verdict: 'mismatch',
      },
      {
        name: 'the platform of a single image is in its configuration',
        situation: 'pushed',
        claim: claimOf(pushed.digest, ['linux/x86_64']),
        sees: { kind: 'present', facts: { platforms_found: 'linux/amd64', platforms_missing: 0 } },
        verdict: 'verified',
      },
    ],
  })
})

t.test('at a registry whose tokens another origin issues', { skip }, async (t) => {
  const { destination, issuer } = registryOf(program!, (password) => password)
  const as = (username: string, password: string) => (): GivenConnection => ({
    provider: 'oci',
    options: { base_url, token_url: issuer(), username, password },
    target: NAME,
  })
  await verifierConformance(t, {
    plugin: container,
    connection: as('user', PASSWORD),
    unprivileged: as('guest', PASSWORD),
    destination,
    before: 'not pushed',
    cases: [
      {
        name: 'the tag is the claimed image',
        situation: 'pushed',
        claim: claimOf(pushed.digest),
        sees: { kind: 'present', facts: { found_digest: pushed.digest } },
        verdict: 'verified',
      },
      {
        name: 'there is no such tag',
        situation: 'not pushed',
        claim: claimOf(pushed.digest),
        absentRoutes,
        sees: { kind: 'absent', facts: {} },
        verdict: 'failed',
      },
      {
        name: 'a password that is not valid',
        situation: 'pushed',
        connection: as('user', 'another-password'),
        claim: claimOf(pushed.digest),
        sees: { error: 'unauthorized' },
        verdict: 'unverifiable',
      },
      {
        name: 'an account that may not pull the image',
        situation: 'pushed',
        connection: as('guest', PASSWORD),
        claim: claimOf(pushed.digest),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
})
