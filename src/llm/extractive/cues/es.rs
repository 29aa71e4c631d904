//! Spanish.

use super::super::listed::{Listed, split};
use super::sign::Sign;
use super::words::Words;

pub(super) const WORDS: Words = Words {
    cues: CUES,
    states: STATES,
    rivals: RIVALS,
    numbers: "dos tres cuatro cinco seis siete ocho nueve diez _ doce trece catorce quince dieciséis",
    weekdays: "lunes martes miércoles jueves viernes sábado domingo",
    connectors: " es son | está están en al bajo tras sobre | con | por | de del desde | a | usa lleva ",
    pronouns: "eso|él|ella|ellos|ellas",
    expletives: "",
    denying: "no|sin|ningún|ninguna|nada",
    yes: "sí|si",
    others: "él|ella|ellos",
    separable: "",
    belonging: "del|de|para",
    circumstances: "en|la|semana|desde|ayer|para|porque|y|por",
    new_begins: "sino|como",
    to: "a",
    joins: "y|pero",
    is_done,
    needs_no_auxiliary: is_own_past,
    is_imperative,
};

/// Opposite states, one axis per line.
const STATES: &str = "abierto|abierta|abiertos|abiertas|reabierto|reabierta|abrió|reabrió|abre otra vez|abre de nuevo / cerrado|cerrada|cerrados|cerradas|clausurado|clausurada|cerró\n\
    en servicio|funciona|ya funciona|funciona de nuevo|funciona otra vez|vuelve a funcionar|volvió a funcionar|reparado|reparada|arreglado|arreglada|en línea|operativo|operativa / \
    fuera de servicio|averiado|averiada|no funciona|roto|rota|caído|caída|fuera de línea|estropeado|estropeada|descompuesto|descompuesta\n\
    activado|activada|encendido|encendida|activo|activa|habilitado|habilitada / desactivado|desactivada|apagado|apagada|inactivo|inactiva|deshabilitado|deshabilitada\n\
    permitido|permitida|autorizado|autorizada|admitido / prohibido|prohibida|no permitido|ya no se permite|no está permitido|no autorizado\n\
    posible / imposible|no es posible\n\
    obligatorio|obligatoria|necesario|necesaria|hace falta / opcional|voluntario|voluntaria|no hace falta|ya no hace falta|no es necesario|ya no es obligatorio|innecesario\n\
    disponible|en existencia|libre / agotado|agotada|ocupado|ocupada|completo|no disponible|sin existencias\n\
    aprobado|aprobada|concedido|concedida / rechazado|rechazada|denegado|denegada\n\
    válido|válida|vigente|en vigor / caducado|caducada|vencido|vencida|ya no vale|no válido\n\
    público|pública / privado|privada|confidencial\n\
    de vacaciones|de baja|ausente / ya volvió|ha vuelto|volvió|de vuelta|se reincorporó";

/// Mutually exclusive words, one group per line.
const RIVALS: &str = "preproducción|producción|pruebas|desarrollo|local\n\
    mañana|tarde|noche|mediodía\n\
    verano|invierno|primavera|otoño\n\
    izquierda|derecha\n\
    norte|sur|este|oeste\n\
    adultos|adulto|niños|niño\n\
    mínimo|máximo\n\
    madre|padre|hermana|hermano|hija|hijo|mujer|marido|tía|tío|abuela|abuelo\n\
    llegada|salida";

const CUES: &[(Sign, &str)] = &[
    (
        Sign::Keep,
        "recuerda|recuerde|recordad|recuerda que|ten en cuenta|tenga en cuenta|no olvides que|no te olvides de que|apunta que|anota que|toma nota|importante|a partir de ahora|de ahora en adelante|desde ahora|en adelante|en lo sucesivo|regla :|la regla|como regla|para que conste|para futuras|por norma|ojo :|ojo ,|ojo con|cuidado con|presta atención|acuérdate|acuérdese|acordaos|que no se te olvide|no te olvides",
    ),
    (
        Sign::Rule,
        "debe|deben|no debe|no deben|nunca|jamás|siempre|prohibido|prohibida|obligatorio|obligatoria|bajo ningún|no se debe|tiene que ser|tienen que ser|\
        ni hablar|ni pensarlo|es tabú|tiene que seguir|debe seguir|solo si|solo cuando|sólo si|sólo cuando",
    ),
    (
        Sign::Limit,
        "para cada|en cada|como máximo|como mínimo|al menos|a lo sumo|no más de|no menos de|solo se|solo acepta|solamente|únicamente|ningún|ninguna|si no ,|de lo contrario|no se puede|a más tardar|no puede|no pueden|solo|sin|no se|no toques|no lo toques|no la toques|no los toques|no las toques|no cambies|no borres|no uses",
    ),
    (
        Sign::Passing,
        "me voy|tengo que irme|salgo corriendo|solo hoy|hoy solo|esta semana|este fin de semana|esta vez|esta noche|esta tarde|ahora mismo|en este momento|de momento|por ahora|por el momento|temporalmente|provisionalmente|excepcionalmente|hasta mañana|todo el día|toda la noche|mientras tanto|desde esta mañana|desde ayer",
    ),
    (
        Sign::Moment,
        "acabo de|acabamos de|hoy|ayer|anteayer|anoche|hace un rato|el otro día|la semana pasada|hace una hora|esta mañana",
    ),
    (
        Sign::Listener,
        "me has|me estás|has dicho|has estado|estás diciendo|eres|tu respuesta|tu idea|tu mensaje|te digo|te dije|te lo digo|me dices|me cuentas|como sabes|ya sabes",
    ),
    (
        Sign::Feeling,
        "estoy cansado|estoy cansada|estoy contento|estoy contenta|estoy harto|estoy harta|estoy triste|estoy feliz|estoy nervioso|estoy nerviosa|me alegro|me alegra|me da pena|me da rabia|qué bien|qué pena|qué alegría|qué rabia|qué horror|qué día|qué sorpresa|uf|menos mal|tengo ganas|me siento|lo que faltaba|madre mía|vaya|caramba|ostras|dios mío|anda ya|molido|molida|reventado|reventada|hecho polvo|hecha polvo|me duele la cabeza|tengo hambre|tengo sueño|muerto de|muerta de|rendido|rendida|me muero de",
    ),
    (
        Sign::Others,
        "escribe que|él quiere|ella quiere|quieren|quiere que|piensa que|cree que|creen que|opina|dice|dicen|dijo|dijeron|cuenta que|contó|me contó|según él|según ella|según mi|se dice|al parecer|por lo visto|propone|propuso|sugiere|sugirió|desea|le gustaría|quería|sostiene|está convencido|está convencida|va diciendo|anda diciendo|alguien dijo|le cuenta a todo|le han dicho|les han dicho|me han contado|me contaron|le dijeron|dice que|dicen que",
    ),
    (
        Sign::Past,
        "era|eran|fue|fueron|estaba|estaban|había|tenía|tuvo|hubo|hizo|iba|quería|podía|vino|llegó|pasó",
    ),
    (
        Sign::Also,
        "también|además|asimismo|otro|otra|un segundo|una segunda|uno más|una más|encima",
    ),
    (
        Sign::Amount,
        "bajan|bajado|bajaron|bajó|suben|subido|subieron|subió|reducido|redujo|aumentado|aumentó|recortado|recortaron|recortan|ampliado|ampliaron|redujeron",
    ),
    (Sign::Hands, "toma el relevo|se hace cargo|se encarga"),
    (
        Sign::Confirming,
        "como estaba|como siempre|sin cambios|sigue igual",
    ),
    (Sign::Lasting, "hasta|solo hoy"),
    (Sign::Shuts, "cierra|cierran"),
    (Sign::IsNot, "no es|no era|no son|no eran|no fue"),
    (
        Sign::Private,
        "queda entre nosotros|entre nosotros ,|entre nosotros .|entre tú y yo|no lo guardes en ningún|no lo guarde en ningún|no lo guardes .|no lo guardes ,|no lo guardes !|no guardes eso .|no guardes eso ,|no guardes eso !|no lo apuntes|no lo anotes|no lo escribas|no apuntes eso|no se lo digas a nadie|no lo repitas|no lo cuentes|que no conste|no hace falta apuntarlo|no hace falta que lo apuntes",
    ),
    (Sign::Speaker, "estoy|ando|voy"),
    (
        Sign::EndsIt,
        "lo cancelamos|la cancelamos|los cancelamos|las cancelamos|lo hemos cancelado|la hemos cancelado|los hemos cancelado|lo vendimos|la vendimos|lo quitamos|la quitamos|lo hemos quitado|la hemos quitado|lo descartamos|la descartamos|lo hemos descartado|la hemos descartado|lo sustituimos|la sustituimos|lo dejamos de usar|la dejamos de usar|ya no lo usamos|ya no la usamos|ya no los usamos|se echó atrás|nos dejó tirados|nos falló|lo hemos cambiado por|la hemos cambiado por",
    ),
    (
        Sign::NotCause,
        "no tiene la culpa|no tenía la culpa|no era la causa|no es la causa|no es el culpable|no era el culpable|es inocente|era inocente|no tiene nada que ver|no tenía nada que ver|queda descartado como causa",
    ),
    (
        Sign::Partly,
        "no solo|no sólo|no siempre|no todos|no todas|no todo|no del todo|no necesariamente|no antes|no después|no más de|no menos de|no sé|no hay problema|no está mal|no en todas",
    ),
    (
        Sign::Excess,
        "es demasiado|son demasiado|son demasiados|era demasiado|es muy poco|se queda corto|no basta|no bastan",
    ),
    (
        Sign::ComesFrom,
        "viene de|vienen de|viene del|vienen del|se deben a|proviene de",
    ),
    (Sign::Only, "solo|sólo|solamente|únicamente|nada más que"),
    (Sign::Since, "desde el|a partir del|desde|a partir de"),
    (Sign::Day, "hoy|ayer|esta mañana"),
    (Sign::Person, "yo|nosotros|ellos|ella|usted|ustedes"),
    (Sign::Needless, "ya no hace falta"),
    (Sign::Waits, "te aviso|espero"),
    (Sign::Own, "he|hemos|ya"),
    (Sign::Before, "antes de que|hasta que"),
    (
        Sign::Exact,
        "guarda esa|guarda ese|guarda esto|tal cual|al pie de la letra|palabra por palabra|sin cambiar nada|textualmente",
    ),
    (Sign::Now, "ahora"),
    (
        Sign::Dismissal,
        "no le hagas caso|no le hacemos caso|ni caso|se inventa|olvídalo|hay que cogerlo con pinzas|a saber|eso me soltó|eso me dijo|eso dijo|eso dice|eso dicen|eso es lo que dice|es lo que dice|según él|según ella|no me lo creo|no me lo trago|no le creo|no les creo|no me creo nada|es su versión|palabras suyas|vete a saber|una tontería , claro",
    ),
    (Sign::Hence, "así que|por eso|de modo que|por lo que|eso explica"),
    (Sign::Seek, "la causa|las causas|por qué|averiguar|diagnosticar"),
    (Sign::Aside, "por cierto|dicho sea de paso"),
    (Sign::Condition, "si|cuando|en cuanto|siempre que"),
    (
        Sign::Concession,
        "tienes razón|tiene razón|en efecto|perdón|lo siento|es verdad|mi error",
    ),
    (
        Sign::Decision,
        "está decidido|está hablado|hemos decidido|decidido|decidimos|he decidido|decisión|acordado|acordamos|nos quedamos con|elegimos|hemos elegido|optamos por|vamos con|queda decidido|aprobado|se acordó|se decidió|\
        lo dejamos en|la dejamos en|me quedo con|queda en|quedan en|apostamos por|tiramos con",
    ),
    (
        Sign::Cause,
        "la causa|causa :|causa raíz|el motivo|la razón|resultó que|resulta que|se debía a|se debe a|debido a|era por|fue por|por culpa|culpable|el problema era|el fallo era|el error era|encontrado :|lo encontré|viene de|venía de|era el|era la|\
        era eso|era eso :|fue eso|ya veo por qué|ya veo el problema|ahí está el problema|eso lo explica|ya sé por qué",
    ),
    (
        Sign::Finding,
        "problema conocido|error conocido|es conocido|conocido :|solución provisional|resultado :|el resultado|conclusión|hallazgo|hemos medido",
    ),
    (Sign::Because, "porque|ya que|puesto que|por eso|así que"),
    (
        Sign::Requirement,
        "solo acepta|solo admite|solo lee|solo funciona|exige|requiere|espera|necesita|no admite|no soporta|limitado a",
    ),
    (
        Sign::Personal,
        "prefiero|preferimos|prefiere|me gusta|me encanta|odio|odia|detesto|no me gusta|no le gusta|vivo en|vivimos en|vive en|trabajo en|trabaja en|me llamo|mi nombre|mi mujer|mi esposa|mi marido|mi esposo|mi hija|mi hijo|mi madre|mi padre|mi hermana|mi hermano|mi médico|alérgico|alérgica|alérgicos|\
        alergia|intolerante|intolerancia|vegetariano|vegetariana|vegano|vegana|diabético|diabética|celíaco|celíaca|asma|embarazada|zurdo|zurda|disléxico|disléxica|silla de ruedas|no come|no bebe|no puedo|no puede|operado|operada|operación|enfermedad|miedo a|cumpleaños|nació|nací|hablo|mi presupuesto|nuestro presupuesto|se marea|mareo|sin gluten|lactosa|resbala",
    ),
    (
        Sign::Change,
        "baja de|sube de|pasa de|pasan de|ahora|ya no|en vez de|en lugar de|sino|cambiado|cambió|cambia|cambio de|corrección|se ha mudado|se mudó|nos mudamos|mudado|aplazado|aplazada|adelantado|adelantada|era incorrecto|estaba mal|reemplazado|sustituido|cancelado|cancelada|obsoleto|renombrado|subió de|bajó de|subido|nuevo|nueva|desde hoy|a partir de hoy|a partir de ahora|lo dejamos en|la dejamos en|pasa a|pasan a|queda en|quedan en|se llama|\
        desde el lunes|desde el martes|desde el miércoles|desde el jueves|desde el viernes|a partir del|a partir de|pasará a|baja a|sube a|van con|ahora es|se queda en|se reabrió|reabrió|volvemos a|resulta que",
    ),
    (
        Sign::Old,
        ", no|ya no es|ya no está|ya no son|ya no|no el|no la|no es el|en vez de|en vez del|en lugar de|en lugar del|y no|antes era|antes",
    ),
    (
        Sign::OldBefore,
        "está cancelado|está cancelada|está obsoleto|ya no vale|queda anulado|queda anulada|se canceló|\
        lo echamos atrás|la echamos atrás|se echó atrás|ya está desinstalado|está desinstalado|desinstalado|desinstalada|ya no existe|quebró|queda sin efecto|se retiró|fue retirado|fue retirada|fue eliminado|fue eliminada|se levantó|\
        se vendió|está vendido|está vendida|se fue|renunció|se jubiló|falleció|murió|se acabó|se terminó|se suspendió|se suprimió|fue sustituido|fue sustituida|fue reemplazado|fue reemplazada|se dio de baja|quedó cancelado|quedó cancelada|se ha cancelado|se ha ido|se ha jubilado|ha quebrado|en quiebra|ha cerrado|echó el cierre|cierra|cierran|cierra definitivamente|se jubila|deja de trabajar|deja el negocio|se cayó|se ha caído|se cae|se echó para atrás|ha fallado|nos dejó tirados|está descartado|está descartada|queda descartado|queda descartada|se descartó|fue borrado|está borrado|se ha borrado|se han borrado|ya no cuenta|se rompió el acuerdo|se ha terminado|se ha acabado|quedó atrás|pasa a la historia|queda fuera|quedan fuera|se queda fuera|ya les da igual|ya le da igual|ya nos da igual|ya da igual|ya no importa|fue suspendido|está suspendido|se ha suspendido|lo han suspendido",
    ),
    (Sign::From, "de|del"),
    (
        Sign::Retired,
        "ya no usamos|ya no uso|ya no utilizamos|hemos dejado|dejamos de usar|abandonado|abandonamos|olvida todo sobre|lo que tienes sobre|lo que sabes de|\
        vendimos|hemos vendido|vendí|he vendido|dejé de|dejamos de|he dejado de|cancelé|cancelamos|he cancelado|hemos cancelado|nos deshicimos de|me deshice de|renuncié a|renunciamos a|ya no tengo|ya no tenemos|ya no hago|ya no vamos a|sustituimos|sustituí|reemplazamos|reemplacé|quitamos|quité|eliminamos|di de baja|dimos de baja|hemos quitado|hemos cambiado|prescindimos de|quita|nos saltamos|suprime|hemos abandonado|he abandonado|dejamos de lado|descartamos|hemos descartado|retiramos|hemos retirado|nos olvidamos de|quitad|hemos eliminado|adiós a|se acabó lo de|se acabó el|se acabó la|dejo de|ya no queremos|ya no quiero",
    ),
    (
        Sign::Obsolete,
        "obsoleto|obsoleta|ya no vale|ya no es válido|ya no es válida|ya no es cierto|es falso|es incorrecto|es incorrecta|está mal|estaba mal|caducado|se puede borrar|olvida|no es correcto|ya no aplica|desactualizado|ya no es correcto|ya no sirve|ya no sirven|ya no valen|no son correctos|están mal|está anticuado",
    ),
    (
        Sign::Moved,
        "se mudó|se ha mudado|mudado|nos mudamos|nueva dirección|se trasladó|trasladado|migrado|migrada|migramos|hemos migrado|hemos pasado|trasladada|se ha trasladado",
    ),
    (
        Sign::Place,
        "vive|viven|vivimos|dirección|oficina|situado|reside|calle|avenida|habitación|consulta|\
        está alojado|está alojada|se guarda en|se guardan en|están guardados|guardado en|alojado|alojada|corre en|corren en|se encuentra|se guarda|se guardan",
    ),
    (
        Sign::Waiting,
        "sin terminar|no está terminado|todavía no|aún no|pendiente|averiado|roto|falta|faltan|incompleto|por confirmar|bloqueado|desconocido",
    ),
    (
        Sign::Hedge,
        "quizá|quizás|tal vez|a lo mejor|probablemente|posiblemente|creo|creemos|supongo|sospecho|me imagino|parece|pareciera|puede que|podría|podrían|puede ser|no estoy seguro|no estoy segura|seguramente|ojalá|en mi opinión|pudiera|apuesto|apostaría|me juego",
    ),
    (
        Sign::Hearsay,
        "pensé|pensaba|creía|creí|me dijeron|dicen que|dice que|se supone|supuestamente|al principio|en la película|en la novela|en el juego|soñé|\
        jura|asegura|preguntó si|quería saber|insiste|bromea|estaba seguro de|estaba segura de|presume|dijiste|me dijiste|habías dicho|lo sabe por|de oídas|de segunda mano",
    ),
    (
        Sign::Hypothesis,
        "si nos|si fuera|si fuéramos|si tuviera|si tuviéramos|si hubiera|si yo|y si|imagina|imagínate|supongamos|supón|sería|serían|habría|habrían|tendría|tendríamos|*aríamos|*eríamos|*iríamos|costaría|pagaría|haría|gustaría|usaría|daría|llevaría|estaría|tocara|lloviera|fueran|tuviera|hubiera|pudiera|hiciera|por ejemplo|en teoría",
    ),
    (
        Sign::Joke,
        "jaja|jajaja|jajajaja|jeje|ja ja|es broma|broma|bromeo|bromeaba|estoy bromeando|lol|: )|; )|😂|🤣|😜|😉|😄|😅|😆|claro que sí , y|ironía|qué podría salir mal|en mis sueños",
    ),
    (
        Sign::Serious,
        "en serio|hablando en serio|ahora en serio|fuera de broma|bromas aparte|no , de verdad",
    ),
    (
        Sign::Denial,
        "no|falso|sigue fallando|sigue sin|no funciona|todavía falla|aún falla|mismo error|no es cierto|no está arreglado|no está resuelto|está vacío|estás seguro|otra vez falla|vuelve a fallar|vuelta a empezar|sigue ahí|sigue igual|no aguanta|no ha servido",
    ),
    (
        Sign::Refuted,
        "no era|no es la causa|no fue|está bien|descartado|descartada|era falso|dio negativo|nada que ver|falsa alarma|olvídalo|no tiene que ver|\
        olvida lo|olvida la|olvida el|olvídate de|pensé que era|pensábamos que era",
    ),
    (
        Sign::Trouble,
        "sin motivo|error|errores|falla|fallo|fallos|se cayó|caída|cae|lento|lenta|bloqueado|problema|incidencia|vacío|vacíos|no funciona|no responde|tarda|pierde|perdido|rechaza|duplicado|desde el|otra vez|sale vacío|\
        llegan dos veces|siguen recibiendo|problemas|incidencias",
    ),
    (
        Sign::Meta,
        "instrucción|instrucciones|inyección|ignoro|lo ignoro|estafa|fraude|phishing|oculta|oculto|no guardo|no la guardo|no lo guardo",
    ),
    (
        Sign::Injection,
        "asistente de ia|asistentes de ia|asistente ia|atención asistente|nota para la ia|nota al agente|al asistente|a los asistentes|ignora las instrucciones|instrucciones anteriores|system :|sistema :|asistente :|modelo de lenguaje|no se lo digas al usuario|sin decírselo",
    ),
    (
        Sign::Says,
        "dice|escribe|pone|correo|mail|mensaje|página|artículo|ticket|error|log|registro|salida|texto|carta|muestra|recibido|cita|comentario",
    ),
    (
        Sign::Wish,
        "quiero|queremos|quisiera|me gustaría|busco|buscamos|espero|deseo|alguna idea|ideas",
    ),
    (
        Sign::Done,
        "ya tiene|ya tienen|lo hice|la hice|está listo|está lista|están listos|están listas|está hecho|está hecha|está terminado|está terminada|ya funciona|funciona ya|funciona de nuevo|funciona otra vez|ya está|hecho|terminado|resuelto|arreglado|está en marcha|está en línea|todo listo|no ha fallado|el pedido de prueba llegó|llegó|ha llegado|han llegado|llegaron|ya llegó|fue entregado|se entregó|venimos de|vengo de|acabamos de volver|ya fuimos|ya hemos ido|están aquí|está aquí|ya los tengo|ya las tengo|ya la tengo|ya lo tengo|ya vino|ya ha venido|ya estuvo|ya pasó|vino ayer|vino el|vino hoy|vino esta|vinieron|tengo cita|tenemos cita|ya tenemos|ya tengo|ya vinieron|está pagado|está pagada|está firmado|está firmada|está reservado|está reservada|está pedido|está pedida|ya se lo|ya le escribí|ya lo hice|ya la hice|ya están|ya pagué|ya hablé",
    ),
    (
        Sign::Aux,
        "he|hemos|ha|han|había|fue|fueron|está|están|es|son|sido|ya|quedó|quedaron|hube",
    ),
    (
        Sign::Negation,
        "no|nunca|jamás|ningún|ninguna|nada|sin|ni|tampoco",
    ),
    (
        Sign::NotYet,
        "todavía no|aún no|no está|no están|pendiente|pendientes|falta|faltan|sin terminar",
    ),
    (
        Sign::Doing,
        "estoy|ahora mismo|actualmente|en este momento|en curso|en marcha|ahora reviso|ahora hago|ahora preparo|empiezo|comienzo|trabajando en|ahora|sigo con|estoy con|me pongo con|voy con|paso a",
    ),
    (
        Sign::Next,
        "luego|después|a continuación|más tarde|siguiente paso|próximo paso|próximos pasos|mañana|la próxima semana|por último|más adelante|entonces|siguiente",
    ),
    (
        Sign::Open,
        "pendiente|pendientes|falta|faltan|queda|quedan|por hacer|todavía no|aún no|sigue pendiente|hay que|tengo que|tiene que|tienen que|debo|hace falta|en espera|no olvides|recuérdame|avísame|avísanos|debería|deberían|se compran|queda por|puede esperar|pueden esperar|todo :",
    ),
    (
        Sign::Request,
        "por favor|puedes|podrías|puede usted|podría usted|haz el favor|asegúrate|quiero que|encárgate",
    ),
    (
        Sign::Plan,
        "voy a|vamos a|va a|van a|lo haré|yo me encargo|*aré|*eré|*iré|la llevo|lo llevo|llevo yo|se compran",
    ),
    (
        Sign::Closing,
        "hecho|listo|todo listo|terminado|resuelto|arreglado|ya está|completado|ya funciona",
    ),
    (
        Sign::Filler,
        "ok|vale|sí|no|bien|muy bien|perfecto|genial|gracias|muchas gracias|de acuerdo|entendido|anotado|claro|exacto|exactamente|bueno|pues|y|pero|entonces|ah|oh|por cierto|hola|por favor|perdón|en efecto|eso es|correcto|excelente|estupendo|jaja|tienes razón|así que|ya|\
        sin problema|no hay problema|sin prisa|hombre|uy|pues nada|a ver",
    ),
    (
        Sign::Anaphor,
        "eso|esto|ese|esa|este|esta|él|ella|ellos|ellas|lo|la|los|las|le|les|ello|ahí|ambos",
    ),
    (
        Sign::Small,
        "el|la|los|las|un|una|unos|unas|de|del|al|a|y|e|o|u|pero|en|con|sin|por|para|sobre|entre|hasta|desde|que|qué|quien|quién|cual|cuál|cuando|cuándo|donde|dónde|como|cómo|si|sí|no|ni|es|son|era|eran|ser|sido|está|están|estoy|estaba|he|has|ha|hemos|han|había|hay|yo|tú|él|ella|usted|nosotros|ustedes|ellos|ellas|me|te|se|nos|le|les|lo|\
        mi|mis|tu|tus|su|sus|nuestro|nuestra|este|esta|esto|ese|esa|eso|estos|estas|más|menos|muy|también|tampoco|ya|aún|todavía|siempre|nunca|todo|todos|toda|todas|otro|otra|otros|otras|mismo|misma|algo|nada|bien|mal|así|pues|porque|ahora|luego|después|antes|hoy|ayer|mañana|gracias|favor|hacer|hago|hace|hecho|voy|va|vamos|puede|puedo|tiene|tengo|cada|solo|sólo|aquí|ahí|allí|sino|vale|final",
    ),
    (
        Sign::Month,
        "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    ),
];

static IDLE: Listed = Listed::new(|| {
    split(
        " empezado comenzado empecé comencé apuntado anotado entendido entrada entradas llamada llamadas parada paradas jornada temporada ensalada mirada llegada salida salidas comida comidas bebida bebidas medida medidas partida subida bajada helado pescado supermercado pensé creí esperé dije miré decidí intenté olvidé vi noté encontré busqué sido pensado creído querido esperado dicho preguntado mirado parecido decidido previsto intentado olvidado visto sabido podido debido tenido llegado venido quedado conocido notado nacido lado cuidado pasado estado mercado juzgado sentido pedido-de vestido partido marido apellido recorrido ruido \
    acordado cambiado mudado aplazado fallado cerrado-por limitado bloqueado operado demasiado contenido servido salido caído perdido subido sábado soldado abogado resultado significado sonido ",
    )
});
static STRONG: Listed = Listed::new(|| {
    split(
        " hecho hecha hechos preparé reparé separé comparé retiré generé puesto puesta rehecho rehecha deshecho cubierto cubierta inscrito inscrita descrito descrita escrito escrita abierto abierta resuelto resuelta roto-a impreso impresa devuelto devuelta corregí subí reinicié cambié arreglé añadí envié compré reservé actualicé instalé configuré moví borré creé probé terminé revisé escribí pedí hice puse llamé pagué conecté convertí ",
    )
});
static IMPERATIVES: Listed = Listed::new(|| {
    split(
        " añade envía corrige cambia revisa escribe prepara pide encarga reserva compra llama borra pon haz lanza prueba compara resume busca encuentra mueve copia crea modifica termina continúa ordena imprime manda agrega cómpralas cómpralos cómprala cómpralo envíalo envíala hazlo ponlo traduce calcula ",
    )
});

/// Words in `-é` and `-í` that are not a first person past.
static NO_PAST: Listed = Listed::new(|| split("porqué café bebé esté comité bufé chalé puré aquí allí"));

/// "cambié", "pasé", "escribí", but not "cambiaré".
fn is_own_past(word: &str) -> bool {
    let future = ["aré", "eré", "iré"].iter().any(|ending| word.ends_with(ending));
    word.chars().count() >= 4 && word.ends_with(['é', 'í']) && !future && !NO_PAST.has(word)
}

fn is_done(word: &str) -> bool {
    if STRONG.has(word) || (is_own_past(word) && !IDLE.has(word)) {
        return true;
    }
    let ends = ["ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"];
    word.chars().count() >= 5 && !IDLE.has(word) && ends.iter().any(|ending| word.ends_with(ending))
}

fn is_imperative(word: &str) -> bool {
    IMPERATIVES.has(word)
}
