import type { Messages } from "./messages.ts";

export const ptBR: Messages = {
  "notice.failed": "Algo deu errado e não consegui responder. Tente de novo, por favor.",
  "notice.interrupted":
    "Fui reiniciado enquanto respondia, então esta mensagem ficou sem resposta. Envie de novo se ainda precisar.",
  "notice.announceFailed":
    "Um subagente terminou, mas o anúncio não pôde ser escrito. O resultado está no histórico da sessão dele.",
  "notice.completionFailed":
    "Um subagente terminou, mas não consegui contar o resultado. Ele está no histórico da sessão do subagente.",
  "denied.owner": "Só o proprietário pode fazer isso. Seu id: {id}",
  "usage.line": "Uso: {usage}",
  "send.description": "Decide se posso enviar neste chat",
  "send.argument": "on, off, ou inherit para seguir a política configurada",
  "send.on": "⚙️ O envio está ligado nesta sessão.",
  "send.off": "⚙️ O envio está desligado nesta sessão.",
  "send.inherit": "⚙️ Esta sessão segue a política configurada ({effective}).",
  "send.current": "⚙️ O envio está {effective} nesta sessão (decidido por {rule}).",
  "send.effective.on": "ligado",
  "send.effective.off": "desligado",
  "status.description": "Mostra o estado desta sessão",
  "status.none": "Ainda não há sessão aqui.",
  "status.session": "Sessão: {name} (agente {agent})",
  "status.model": "Modelo: {model}",
  "status.tokens": "Tokens: {total, number}",
  "status.tokens.split": "(entrada {input, number} / saída {output, number})",
  "status.runs":
    "{running, plural, =0 {Nenhuma execução em espera.} one {# execução em andamento ou em espera.} other {# execuções em andamento ou em espera.}}",
  "status.send": "Envio: {effective} ({rule})",
  "status.lastRunAborted": "A última execução foi interrompida.",
  "whoami.description": "Mostra seu id",
  "whoami.id": "Seu id em {channel}: {id}",
  "whoami.owner": "Você é proprietário.",
  "whoami.notOwner": "Você não é proprietário.",
  "help.description": "Lista os comandos",
  "help.title": "Comandos:",
  "help.ownerOnly": "só o proprietário",
};
