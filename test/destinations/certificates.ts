/** A certificate authority for tests, made by the program openssl. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Identity {
  readonly key: string
  readonly cert: string
}

export interface IdentityOptions {
  /** Signed with its own key, which nobody trusts. */
  readonly isSelfSigned?: boolean
  readonly isExpired?: boolean
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'claimcheck-certificates-'))
  #made = 0

  constructor() {
    this.#openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  }

  get cert(): string {
    return this.#read('ca.pem')
  }

  /** With the certificate, for NODE_EXTRA_CA_CERTS of other processes. */
  get file(): string {
    return join(this.#folder, 'ca.pem')
  }

  /** @param names of hosts, `*.example.com` among them */
  issue(names: readonly string[], { isSelfSigned = false, isExpired = false }: IdentityOptions = {}): Identity {
    const name = `made-${++this.#made}`
    const [key, csr, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((end) => `${name}.${end}`) as [
      string,
      string,
      string,
      string,
    ]
    writeFileSync(join(this.#folder, extensions), `subjectAltName=${names.map((one) => `DNS:${one}`).join()}\n`)
    this.#openssl('req', ...NEW_KEY, '-subj', `/CN=${names[0]}`, '-keyout', key, '-out', csr)
    const signer = isSelfSigned ? ['-signkey', key] : ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
    const days = isExpired ? '-1' : '30'
    this.#openssl('x509', '-req', '-in', csr, ...signer, '-days', days, '-extfile', extensions, '-out', cert)
    return { key: this.#read(key), cert: this.#read(cert) }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #read(file: string): string {
    return readFileSync(join(this.#folder, file), 'utf8')
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }
}
