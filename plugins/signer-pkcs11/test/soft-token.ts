/** A PKCS#11 token for tests: SoftHSM's, in a folder that can be taken away and brought back. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

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
  readonly options: { readonly module: string; readonly token: string }
  /** The section `signer` of the configuration file. */
  readonly signer: { readonly use: string; readonly with: SoftToken['options'] }
  /** For a command, and for this process: where SoftHSM finds its tokens, and the PIN. */
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
  const env = { SOFTHSM2_CONF: configuration, SIGNER_PIN: pin }
  const options = { module: MODULE!, token }
  const args = ['--init-token', '--free', '--label', token, '--so-pin', '55550000', '--pin', pin]
  execFileSync('softhsm2-util', args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  Object.assign(process.env, env)
  return {
    pin,
    options,
    signer: { use: resolve('plugins/signer-pkcs11'), with: options },
    env,
    takeAway: () => renameSync(tokens, `${tokens}.away`),
    bringBack: () => renameSync(`${tokens}.away`, tokens),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
