/**
 * The process that holds the token open. The module is a library of others: here it can neither end the service nor read what the service
 * knows, and to open it again after a failure is to start this process again.
 */
import type {
  FromTokenProcess,
  TokenCalls,
  TokenFailure,
  TokenRequest,
  TokenSettings,
  ToTokenProcess,
} from './messages.ts'
import { openToken, type Token } from './token.ts'

/** After these the token is not asked again. */
const PIN_FAILURES = /^CKR_PIN_|^CKR_USER_PIN_/

let token: Promise<Token> | undefined

async function open(settings: TokenSettings): Promise<Token> {
  const { default: library } = await import('pkcs11js').catch((cause: unknown) => {
    throw new Error('the package pkcs11js is not installed, or was not built: npm install pkcs11js', { cause })
  })
  return openToken(library, settings)
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

function reply(message: FromTokenProcess): void {
  process.send!(message)
}

process.on('message', (message: ToTokenProcess) => {
  if ('settings' in message) {
    token = open(message.settings)
    // Told with each request.
    token.catch(() => {})
    return
  }
  answer(message).then(
    (value) => reply({ id: message.id, answer: value }),
    (error: unknown) => reply({ id: message.id, failure: toFailure(error) }),
  )
})
// The service ended.
process.on('disconnect', () => process.exit())
