/** What counts as a proven builder: npm verified an attestation about exactly the archive that is installed, and the certificate names one identity. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { verifiedBuilder } from '@claimcheck/server/features/plugins/provenance'
import t, { type Test } from 'tap'

const WORKFLOW = 'https://github.com/acme/plugin/.github/workflows/publish.yml@refs/tags/v1.0.0'
const DIGEST = createHash('sha512').update('archive').digest()
const LOCKED = {
  name: 'claimcheck-plugin-acme',
  version: '1.0.0',
  resolved: 'https://registry.example/x.tgz',
  integrity: `sha512-${DIGEST.toString('base64')}`,
}

/** A certificate with these names, in DER and base64. */
function certificateFor(t: Test, names: string): string {
  const key = join(t.testdir(), 'key.pem')
  const subject = ['-subj', '/CN=sigstore', '-addext', `subjectAltName=${names}`]
  const args = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', key, '-outform', 'DER', ...subject]
  return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString('base64')
}

interface Changes {
  readonly predicateType?: string
  readonly digest?: Buffer
  readonly invalid?: readonly object[]
  readonly name?: string
  readonly certificates?: object
}

function reportOf(rawBytes: string, changes: Changes = {}): object {
  const {
    predicateType = 'https://slsa.dev/provenance/v1',
    digest = DIGEST,
    invalid = [],
    name = LOCKED.name,
  } = changes
  const statement = { subject: [{ name: 'pkg:npm/x', digest: { sha512: digest.toString('hex') } }], predicateType }
  const payload = Buffer.from(JSON.stringify(statement)).toString('base64')
  const verificationMaterial = changes.certificates ?? { certificate: { rawBytes } }
  const bundle = { verificationMaterial, dsseEnvelope: { payload, payloadType: 'application/vnd.in-toto+json' } }
  const verified = [{ name, version: LOCKED.version, attestationBundles: [{ predicateType, bundle }] }]
  return { invalid, missing: [], verified }
}

t.test('a verified provenance names the identity of its certificate', async (t) => {
  const certificate = certificateFor(t, `URI:${WORKFLOW}`)
  t.equal(verifiedBuilder(reportOf(certificate), LOCKED), WORKFLOW)
  const chain = { x509CertificateChain: { certificates: [{ rawBytes: certificate }] } }
  t.equal(verifiedBuilder(reportOf('', { certificates: chain }), LOCKED), WORKFLOW)
})

t.test('everything else proves nothing', async (t) => {
  const certificate = certificateFor(t, `URI:${WORKFLOW}`)
  const rows: readonly (readonly [what: string, report: unknown])[] = [
    ['no report', undefined],
    ['npm verified nothing', { invalid: [], missing: [] }],
    ['npm found it invalid', reportOf(certificate, { invalid: [{ code: 'EATTESTATIONVERIFY' }] })],
    [
      'an attestation of the publication alone',
      reportOf(certificate, { predicateType: 'https://github.com/npm/attestation/tree/main/specs/publish/v0.1' }),
    ],
    ['another archive', reportOf(certificate, { digest: Buffer.alloc(64) })],
    ['another package', reportOf(certificate, { name: 'another' })],
    ['a certificate of two identities', reportOf(certificateFor(t, `URI:${WORKFLOW},URI:https://evil.example/`))],
    ['no certificate', reportOf('', { certificates: { publicKey: { hint: 'SHA256:x' } } })],
  ]
  for (const [what, report] of rows) t.equal(verifiedBuilder(report, LOCKED), undefined, what)
})
