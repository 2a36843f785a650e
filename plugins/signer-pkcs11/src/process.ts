/**
 * The process that holds the token open. The module is a library of others: here it can neither end the service nor read what the service
 * knows, and to open it again after a failure is to start this process again.
 */
import type { TokenCalls, TokenFailure, TokenReply, TokenRequest, TokenSettings, ToTokenProcess } from './messages.ts'
import { openToken, type Token } from './token.ts'

/** Errors after which the token is not asked again. */
const PIN_FAILURES = /^CKR_PIN_|^CKR_USER_PIN_/

let token: Promise<Token> | undefined

async function open(settings: TokenSettings): Promise<Token> {
  const { default: library } = await import('pkcs11js').catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`the package pkcs11js ${toAdvice(cause)}`, { cause })
  })
  return openToken(library, settings)
}

function toAdvice({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ERR_MODULE_NOT_FOUND') return 'is not installed: npm install pkcs11js@2.1.7 in the folder of the server'
  return `does not load: compile it with npm rebuild pkcs11js in the folder of the server (${message.split('\n')[0]})`
}

async function answer(request: TokenRequest): Promise<TokenCalls[keyof TokenCalls]['answer']> {
  const opened = await token!
  if (request.call === 'sign') return opened.sign(request.keyId, request.message)
  return opened[request.call]()
}

function toFailure(error: unknown): TokenFailure {
  const { message, method } = error as Error & { readonly method?: string }
  return { isFinal: PIN_FAILURES.test(message), message: method ? `${message} (${method})` : message }
}

let replies: TokenReply[] = []

function reply(one: TokenReply): void {
  if (replies.push(one) === 1) setImmediate(send)
}

function send(): void {
  process.send!(replies)
  replies = []
}

process.on('message', (message: ToTokenProcess) => {
  if ('settings' in message) {
    token = open(message.settings)
    // The failure to open the token is told with each request, so it is not thrown here.
    token.catch(() => {})
    return
  }
  for (const request of message) {
    answer(request).then(
      (value) => reply({ id: request.id, answer: value }),
      (error: unknown) => reply({ id: request.id, failure: toFailure(error) }),
    )
  }
})
// The process ends with the service.
process.on('disconnect', () => process.exit())
