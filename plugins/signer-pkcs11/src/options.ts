/** The plugin's options, and the settings of the token that follow from them. */
import { resolve } from 'node:path'
import { type Static, Type } from '@claimcheck/core/plugin'
import type { TokenSettings } from './messages.ts'

const DEFAULT_LABEL = 'claimcheck'

export const Options = Type.Object(
  {
    module: Type.String({ minLength: 1, description: 'The path of the PKCS#11 module, a shared library.' }),
    // PKCS #11 2.40, 3.2: labels of tokens are padded to 32 bytes.
    token: Type.String({ minLength: 1, maxLength: 32, description: 'The label of the token.' }),
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        default: DEFAULT_LABEL,
        description: 'The label of the keys in it. Two logs in one token need two labels.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Reads the plugin's options. @param env has the PIN, so that no file has it @throws Error when the PIN is missing */
export function readOptions(
  { module, token, label = DEFAULT_LABEL }: Static<typeof Options>,
  { SIGNER_PIN: pin }: Readonly<Record<string, string | undefined>>,
): TokenSettings {
  if (!pin) throw new Error(`SIGNER_PIN is missing: set this environment variable to the PIN of the token ${token}`)
  return { module: resolve(module), token, label, pin }
}
