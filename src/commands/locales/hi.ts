import type { Messages } from "./messages.ts";

export const hi: Messages = {
  "notice.failed": "कुछ गड़बड़ हो गई और मैं जवाब नहीं दे सका। कृपया फिर से कोशिश करें।",
  "notice.interrupted":
    "जवाब देते समय मुझे फिर से शुरू किया गया, इसलिए इस संदेश का जवाब नहीं मिला। अगर अब भी ज़रूरत हो तो कृपया फिर से भेजें।",
  "notice.announceFailed":
    "एक सब-एजेंट का काम पूरा हुआ, पर उसकी घोषणा लिखी नहीं जा सकी। परिणाम उसके सत्र के इतिहास में है।",
  "notice.completionFailed":
    "एक सब-एजेंट का काम पूरा हुआ, पर मैं उसका परिणाम नहीं बता सका। परिणाम उसके सत्र के इतिहास में है।",
  "denied.owner": "यह केवल स्वामी कर सकता है। आपकी आईडी: {id}",
  "usage.line": "उपयोग: {usage}",
  "send.description": "तय करें कि मैं इस चैट में भेज सकता हूँ या नहीं",
  "send.argument": "on, off, या inherit (कॉन्फ़िग की नीति)",
  "send.on": "⚙️ इस सत्र के लिए भेजना चालू है।",
  "send.off": "⚙️ इस सत्र के लिए भेजना बंद है।",
  "send.inherit": "⚙️ यह सत्र कॉन्फ़िग की नीति का पालन करता है ({effective})।",
  "send.current": "⚙️ इस सत्र के लिए भेजना {effective} है (निर्णय: {rule})।",
  "send.effective.on": "चालू",
  "send.effective.off": "बंद",
  "status.description": "इस सत्र की स्थिति दिखाएँ",
  "status.none": "यहाँ अभी कोई सत्र नहीं है।",
  "status.session": "सत्र: {name} (एजेंट {agent})",
  "status.model": "मॉडल: {model}",
  "status.tokens": "टोकन: {total, number}",
  "status.tokens.split": "(इनपुट {input, number} / आउटपुट {output, number})",
  "status.runs":
    "{running, plural, =0 {कोई रन प्रतीक्षा में नहीं है।} one {# रन चल रहा है या प्रतीक्षा में है।} other {# रन चल रहे हैं या प्रतीक्षा में हैं।}}",
  "status.send": "भेजना: {effective} ({rule})",
  "status.lastRunAborted": "पिछला रन बीच में रुक गया था।",
  "whoami.description": "अपनी आईडी देखें",
  "whoami.id": "{channel} पर आपकी आईडी: {id}",
  "whoami.owner": "आप स्वामी हैं।",
  "whoami.notOwner": "आप स्वामी नहीं हैं।",
  "help.description": "कमांड की सूची",
  "help.title": "कमांड:",
  "help.ownerOnly": "केवल स्वामी",
};
