/** What core knows of a protocol that it speaks itself. */
import type { Conversation } from './conversation.ts'
import type { SecretLogin } from './sasl.ts'

export interface Protocol {
  /**
   * From the first byte to where commands can be written: the greeting, TLS where the conversation asks for it, and the login.
   * @returns the greeting
   * @throws DestinationError
   */
  begin(talk: Conversation, login: SecretLogin | undefined): Promise<string>
  /** All commands that only read, with the arguments that keep them from more. */
  readonly commands: Readonly<Record<string, (rest: string) => boolean>>
  /** @returns undefined for what is no line of this protocol */
  readLine(line: string): { readonly name: string; readonly rest: string } | undefined
}
