/** One form of what can be written in several ways, and the refusal of what can be published nowhere. */
import { DestinationError, Value } from '@claimcheck/core/plugin'
import t from 'tap'
import { claimOf, setUp } from './fixture.ts'

const { verifier } = await setUp()
const { target: Target, params: Params } = verifier.profile

/** The normal form; `refused` where the claim leads to no registry, `invalid` where it has not the form of a claim. */
function formOf(target: string, params: Record<string, string>): string {
  const all = { version: '1.0.0', ...params }
  if (!Value.Check(Target, target) || !Value.Check(Params, all)) return 'invalid'
  const once = verifier.normalize!({ target, params: all })
  const twice = verifier.normalize!(once)
  t.same(once, twice, 'it stays as it is')
  t.ok(Value.Check(Target, once.target) && Value.Check(Params, once.params), 'it is valid itself')
  try {
    verifier.anonymousSource!({ ...claimOf({ target }), ...once } as never)
  } catch (error) {
    if (error instanceof DestinationError && error.code === 'unsupported_target') return 'refused'
    throw error
  }
  const { version, integrity } = once.params as Record<string, string>
  return [once.target, version, integrity].filter(Boolean).join(' ')
}

const VERSIONS: readonly [target: string, version: string, form: string][] = [
  ['npm:Left-Pad', '1.2.3', 'npm:Left-Pad 1.2.3'],
  ['npm:@Acme/tool', 'v1.2.3-beta.1', 'npm:@Acme/tool 1.2.3-beta.1'],
  ['npm:tool', '1.2.3+build', 'refused'],
  ['npm:tool', '1.2', 'refused'],
  ['npm:tool', '01.2.3', 'refused'],
  ['npm:tool', '1.2.3-01', 'refused'],
  ['npm:tool', '8-lts', 'refused'],
  ['npm:tool', 'latest', 'invalid'],
  ['npm:tool', '^1.2.3', 'invalid'],
  ['npm:-', '1.2.3', 'invalid'],
  ['npm:-/ping', '1.2.3', 'invalid'],
  ['npm:../tool', '1.2.3', 'invalid'],
  ['npm:@acme/../tool', '1.2.3', 'invalid'],
  ['npm:@acme/..', '1.2.3', 'invalid'],
  ['npm:@acme/tool/1.0.0', '1.2.3', 'invalid'],
  ['npm:tool?write=true', '1.2.3', 'invalid'],
  ['gem:tool', '1.2.3', 'invalid'],
  ['tool', '1.2.3', 'invalid'],
  ['cargo:Serde_JSON', 'V1.2.3+1.7.2', 'cargo:serde_json 1.2.3+1.7.2'],
  ['cargo:serde', '1.2', 'refused'],
  ['cargo:ser.de', '1.2.3', 'invalid'],
  ['pypi:My__Pkg.Name', '1.0', 'pypi:my-pkg-name 1.0'],
  ['pypi:pkg', 'v1.0.0-ALPHA_1', 'pypi:pkg 1.0.0a1'],
  ['pypi:pkg', '1!01.2.Preview', 'pypi:pkg 1!1.2rc0'],
  ['pypi:pkg', '0!1.0c4', 'pypi:pkg 1.0rc4'],
  ['pypi:pkg', '1.0-5', 'pypi:pkg 1.0.post5'],
  ['pypi:pkg', '1.0rev3.dev', 'pypi:pkg 1.0.post3.dev0'],
  ['pypi:pkg', '1.0b2.post345.dev456', 'pypi:pkg 1.0b2.post345.dev456'],
  ['pypi:pkg', '1.0+Ubuntu-01_x', 'pypi:pkg 1.0+ubuntu.1.x'],
  ['pypi:pkg', '1.0-beta-build', 'refused'],
  ['pypi:pkg-', '1.0', 'invalid'],
  ['pypi:pkg', `1.${'0'.repeat(120)}1dev`, 'pypi:pkg 1.1.dev0'],
  // Its normal form is longer, and no claim could have it.
  ['pypi:pkg', `1.${'1'.repeat(121)}dev`, 'refused'],
]

for (const [target, version, form] of VERSIONS) {
  t.test(`${target} ${version}: ${form}`, async (t) => t.equal(formOf(target, { version }), form))
}

const HEX = 'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855'
const SRI = 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
const SHA512 = `sha512-${Buffer.alloc(64).toString('base64')}`

const DIGESTS: readonly [target: string, integrity: string, form: string][] = [
  ['pypi:pkg', HEX, `pypi:pkg 1.0.0 ${SRI}`],
  ['cargo:tool', `sha256:${HEX.toLowerCase()}`, `cargo:tool 1.0.0 ${SRI}`],
  ['npm:tool', SRI, `npm:tool 1.0.0 ${SRI}`],
  // The last digit before the padding has bits that say nothing.
  ['npm:tool', SHA512.replace('A==', 'P=='), `npm:tool 1.0.0 ${SHA512}`],
  ['pypi:pkg', SHA512, 'refused'],
  ['cargo:tool', SHA512, 'refused'],
  ['npm:tool', 'sha512-AAAA', 'invalid'],
  ['npm:tool', 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', 'invalid'],
]

for (const [target, integrity, form] of DIGESTS) {
  t.test(`${target} ${integrity}: ${form}`, async (t) => t.equal(formOf(target, { integrity }), form))
}
