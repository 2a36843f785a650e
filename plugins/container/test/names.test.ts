/** Names of images and platforms in their one form, the claims that a connection fits, and the words of receipts. */

import { type JsonObject, Value } from '@claimcheck/core/plugin'
import { factSentences, outcomeSentence } from '@claimcheck/core/receipts'
import container from '@claimcheck/plugin-container'
import t from 'tap'

const logger = { info() {}, warn() {} }
const { verifiers, connections } = await container.setup({ logger }, {})
const verifier = verifiers![0]!
const { profile } = verifier
const type = connections![0]!
const HEX = 'ab'.repeat(32)

function normalize(target: string, more: JsonObject = {}) {
  const claim = { target, params: { tag: '1.0.0', digest: `sha256:${HEX}`, ...more } }
  return verifier.normalize!(claim) as { readonly target: string; readonly params: JsonObject }
}

const targets: readonly [target: string, one: string, baseUrl: string][] = [
  ['docker.io/acme/api', 'docker.io/acme/api', 'https://registry-1.docker.io'],
  ['docker.io/alpine', 'docker.io/library/alpine', 'https://registry-1.docker.io'],
  ['docker.io/library/alpine', 'docker.io/library/alpine', 'https://registry-1.docker.io'],
  ['index.docker.io/acme/api', 'docker.io/acme/api', 'https://registry-1.docker.io'],
  ['registry-1.docker.io/acme/api', 'docker.io/acme/api', 'https://registry-1.docker.io'],
  ['GHCR.io/acme/api', 'ghcr.io/acme/api', 'https://ghcr.io'],
  ['ghcr.io:443/acme/api', 'ghcr.io/acme/api', 'https://ghcr.io'],
  ['ghcr.io/alpine', 'ghcr.io/alpine', 'https://ghcr.io'],
  [
    'registry.gitlab.com/group/sub-group/a__b/c.d',
    'registry.gitlab.com/group/sub-group/a__b/c.d',
    'https://registry.gitlab.com',
  ],
  ['registry.example.com:5000/acme/api', 'registry.example.com:5000/acme/api', 'https://registry.example.com:5000'],
  ['registry:5000/api', 'registry:5000/api', 'https://registry:5000'],
  ['localhost/api', 'localhost/api', 'https://localhost'],
  ['127.0.0.1:5000/api', '127.0.0.1:5000/api', 'https://127.0.0.1:5000'],
]

for (const [target, one, baseUrl] of targets) {
  t.test(`${target} is ${one}`, async (t) => {
    t.ok(Value.Check(profile.target, target))
    t.equal(normalize(target).target, one)
    t.equal(normalize(one).target, one)
    t.same(verifier.anonymousSource!({ target } as never), { provider: 'oci', baseUrl })
  })
}

for (const target of [
  'acme/api',
  'alpine',
  'ghcr.io',
  'ghcr.io/',
  'ghcr.io/Acme/api',
  'ghcr.io/acme/api:1.0.0',
  `ghcr.io/acme/api@sha256:${HEX}`,
  'ghcr.io/acme/../api',
  'ghcr.io/acme//api',
  'ghcr.io/.acme/api',
  'https://ghcr.io/acme/api',
  'user@ghcr.io/acme/api',
]) {
  t.test(`${target} is no target`, async (t) => {
    t.notOk(Value.Check(profile.target, target))
  })
}

const platforms: readonly [platform: string, one: string][] = [
  ['linux/amd64', 'linux/amd64'],
  ['Linux/x86_64', 'linux/amd64'],
  ['linux/amd64/v1', 'linux/amd64'],
  ['linux/amd64/v3', 'linux/amd64/v3'],
  ['linux/aarch64', 'linux/arm64'],
  ['linux/arm64/v8', 'linux/arm64'],
  ['linux/arm64/8', 'linux/arm64'],
  ['linux/arm', 'linux/arm'],
  ['linux/arm/v7', 'linux/arm/v7'],
  ['linux/arm/6', 'linux/arm/v6'],
  ['linux/armhf', 'linux/arm/v7'],
  ['linux/armel', 'linux/arm/v6'],
  ['linux/i386', 'linux/386'],
  ['linux/ppc64le', 'linux/ppc64le'],
  ['windows/amd64', 'windows/amd64'],
]

for (const [platform, one] of platforms) {
  t.test(`the platform ${platform} is ${one}`, async (t) => {
    t.ok(Value.Check(profile.params, { tag: 'v1', digest: `sha256:${HEX}`, platforms: [platform] }))
    t.same(normalize('ghcr.io/acme/api', { platforms: [platform, one] }).params.platforms, [one])
    t.same(normalize('ghcr.io/acme/api', { platforms: [one] }).params.platforms, [one])
  })
}

t.test('a digest is written in lower case', async (t) => {
  t.equal(normalize('ghcr.io/a', { digest: `sha256:${HEX.toUpperCase()}` }).params.digest, `sha256:${HEX}`)
})

const fits: readonly [baseUrl: string, target: string, fits: boolean][] = [
  ['https://registry-1.docker.io', 'docker.io/acme/api', true],
  ['https://docker.io/', 'docker.io/acme/api', true],
  ['https://index.docker.io', 'ghcr.io/acme/api', false],
  ['https://ghcr.io', 'ghcr.io/acme/api', true],
  ['https://GHCR.io/', 'ghcr.io/acme/api', true],
  ['https://ghcr.io:443', 'ghcr.io/acme/api', true],
  ['https://registry.example.com', 'registry.example.com:5000/acme/api', false],
  ['https://registry.example.com:5000', 'registry.example.com:5000/acme/api', true],
  ['http://registry.example.com:5000', 'registry.example.com:5000/acme/api', true],
  ['http://registry.example.com', 'registry.example.com/acme/api', true],
  ['http://registry.example.com', 'registry.example.com:80/acme/api', true],
  ['https://registry.example.com', 'registry.example.com:80/acme/api', false],
]

for (const [base_url, target, isFit] of fits) {
  t.test(`a connection to ${base_url} ${isFit ? 'fits' : 'does not fit'} ${target}`, async (t) => {
    t.ok(Value.Check(type.options, { base_url }))
    t.equal(type.fits({ base_url }, { ...normalize(target) } as never), isFit)
  })
}

t.test("Docker Hub's names lead to where it answers", async (t) => {
  t.equal(type.baseUrl({ base_url: 'https://docker.io' }), 'https://registry-1.docker.io')
  t.equal(type.baseUrl({ base_url: 'https://ghcr.io/' }), 'https://ghcr.io')
})

t.test('the words say what was seen, and nothing of a push', async (t) => {
  const claim = { target: 'ghcr.io/acme/api', params: { tag: '1.0.0', digest: 'sha256:ab' } }
  const say = (verdict: 'verified' | 'mismatch', facts: Record<string, string | number>) =>
    outcomeSentence(profile, verdict, { ...claim, facts: { tag: '1.0.0', ...facts } })
  t.equal(say('verified', { found_digest: 'sha256:ab' }), 'Tag 1.0.0 of ghcr.io/acme/api was sha256:ab in time.')
  t.equal(
    say('verified', { found_digest: 'sha256:ab', index_digest: 'sha256:cd' }),
    'Tag 1.0.0 of ghcr.io/acme/api was the index sha256:cd, whose only image is sha256:ab.',
  )
  t.equal(say('mismatch', { found_digest: 'sha256:ef' }), 'Tag 1.0.0 of ghcr.io/acme/api is sha256:ef, not sha256:ab.')
  t.equal(
    say('mismatch', { found_digest: 'sha256:ab', platforms_missing: 1 }),
    'Tag 1.0.0 of ghcr.io/acme/api is sha256:ab, which lacks 1 of the claimed platforms.',
  )
  t.match(factSentences(profile, { ...claim, facts: { undated: true } }), [/may be older than the claim/])
})
