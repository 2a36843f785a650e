/** Where the keys are that sign the log, if it is outside of the service: a PKCS#11 token. */
import { resolve } from 'node:path'
import { type Static, Type } from '@claimcheck/core/plugin'
import type { Report } from './report.ts'

export interface SignerConfig {
  /** The path of the PKCS#11 module, a shared library. */
  readonly module: string
  /** The label of the token. */
  readonly token: string
  /** The label of the keys in the token. */
  readonly label: string
  readonly pin: string
}

export const SignerSection = Type.Object(
  {
    pkcs11: Type.Object(
      {
        module: Type.String({ minLength: 1 }),
        // PKCS #11 2.40, 3.2: labels of tokens are padded to 32 bytes.
        token: Type.String({ minLength: 1, maxLength: 32 }),
        label: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

const DEFAULT_LABEL = 'claimcheck'

/** @param pin from the environment alone, so that it is in no file beside the rest */
export function readSigner(
  { pkcs11 }: Static<typeof SignerSection>,
  pin: string | undefined,
  { folder, report }: { readonly folder: string; readonly report: Report },
): SignerConfig {
  if (!pin) report('SIGNER_PIN: missing; the configuration file names a token that signs, and this opens it')
  return { ...pkcs11, module: resolve(folder, pkcs11.module), label: pkcs11.label ?? DEFAULT_LABEL, pin: pin ?? '' }
}
