/** The option of a connection that has the address of a server. */
import { Type } from '@claimcheck/core/plugin'

/** @param before the part of an issue's address that the server's own address ends before */
export const addressOption = (before: string, example: string) =>
  Type.String({
    title: 'Address',
    pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
    'x-pattern-help': `enter an address that begins with https://, as it is before ${before}`,
    maxLength: 300,
    description: `The address of the server, as it is before \`${before}\` in the addresses of issues.`,
    examples: [example],
  })
