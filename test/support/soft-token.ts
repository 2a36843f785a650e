/** A PKCS#11 token of the test's own: SoftHSM's, in a folder that can be taken away and brought back. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Debian's package has it, and others. */
const MODULES = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/lib64/pkcs11/libsofthsm2.so',
  '/opt/homebrew/lib/softhsm/libsofthsm2.so',
]
const MODULE = MODULES.find((path) => existsSync(path))

/** Why tests with a token are skipped; false where they run. */
export const WITHOUT_TOKENS =
  (MODULE === undefined && 'SoftHSM is not installed: apt-get install softhsm2') ||
  (!existsSync('node_modules/pkcs11js') && 'pkcs11js was not compiled: it needs make, g++ and python3')

export interface SoftToken {
  readonly pin: string
  /** The section `signer` of the configuration file. */
  readonly signer: { readonly pkcs11: { readonly module: string; readonly token: string } }
  /** For a command, and for this process: where SoftHSM finds its tokens. */
  readonly env: Readonly<Record<string, string>>
  takeAway(): void
  bringBack(): void
  remove(): void
}

/** All programs that this process starts find the token that was made last. */
export function createToken(token = 'claimcheck'): SoftToken {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-token-'))
  const tokens = join(folder, 'tokens')
  mkdirSync(tokens)
  const configuration = join(folder, 'softhsm2.conf')
  writeFileSync(configuration, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`)
  const pin = '7294-secret-pin'
  const env = { SOFTHSM2_CONF: configuration }
  const args = ['--init-token', '--free', '--label', token, '--so-pin', '55550000', '--pin', pin]
  execFileSync('softhsm2-util', args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  Object.assign(process.env, env)
  return {
    pin,
    signer: { pkcs11: { module: MODULE!, token } },
    env: { ...env, SIGNER_PIN: pin },
    takeAway: () => renameSync(tokens, `${tokens}.away`),
    bringBack: () => renameSync(`${tokens}.away`, tokens),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
