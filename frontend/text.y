%code top {
/* Grammar of IR text; ir/IR.md is its reference. */
}
%code requires {
#include "frontend/text.h"
}

%define api.pure full
%define api.prefix {text_yy}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {void *scanner}
%parse-param {Text *t}

%union {
	const char *text;
	Number number;
	Value value;
	Type type;
}

%token <text> NAME "a %name" WORD "a word" STRING "a string"
%token <number> NUMBER "a number"
%token NL "the end of the line"
%type <value> value
%type <type> type

%code {
int text_yylex(TEXT_YYSTYPE *, TEXT_YYLTYPE *, void *scanner);

#define POS(at) ((Pos){ (at).first_line, (at).first_column })

static void text_yyerror(TEXT_YYLTYPE *at, void *scanner, Text *t, const char *msg)
{
	(void)scanner;
	text_error(t, POS(*at), "%s", msg);
}
}

%%

text:	%empty | text line ;

line:	NL
	| WORD STRING NL		{ text_header(t, POS(@1), $1, $2); text_end(t, false); }
	| def WORD operands attrs ':' type NL
					{ text_op(t, POS(@2), $2, $6); text_end(t, false); }
	| error NL			{ text_end(t, true); yyerrok; }
	;

def:	NAME '='			{ text_begin(t, POS(@1), $1); } ;

operands:
	%empty
	| inputs
	| '[' list ']'			{ t->value = text_value(t, POS(@1), FORM_LIST, NULL); }
	| WORD one			{ t->value = text_value(t, POS(@1), FORM_ONE, $1); }
	;

inputs:	NAME				{ text_input(t, POS(@1), $1); }
	| inputs ',' NAME		{ text_input(t, POS(@3), $3); }
	;

attrs:	%empty | '{' '}' | '{' attributes '}' ;

attributes:
	attribute | attributes ',' attribute ;

attribute:
	WORD				{ text_attribute(t, POS(@1), $1, text_value(t, POS(@1), FORM_NONE, NULL)); }
	| WORD '=' value		{ text_attribute(t, POS(@1), $1, $3); }
	;

value:	number				{ $$ = text_value(t, POS(@1), FORM_ONE, NULL); }
	| string			{ $$ = text_value(t, POS(@1), FORM_ONE, NULL); }
	| words				{ $$ = text_value(t, POS(@1), FORM_SET, NULL); }
	| '[' list ']'			{ $$ = text_value(t, POS(@1), FORM_LIST, NULL); }
	| WORD '(' list ')'		{ $$ = text_value(t, POS(@1), FORM_CALL, $1); }
	;

words:	word | words '|' word ;

list:	%empty | items ;
items:	item | items ',' item ;
item:	one | pair ;
one:	number | string | word ;

number:	NUMBER			{ text_item(t, (Item){ ITEM_NUMBER, POS(@1), .number = $1 }); } ;
string:	STRING			{ text_item(t, (Item){ ITEM_STRING, POS(@1), .text = $1 }); } ;
word:	WORD			{ text_item(t, (Item){ ITEM_WORD, POS(@1), .text = $1 }); } ;
pair:	WORD '=' NUMBER		{ text_item(t, (Item){ ITEM_NUMBER, POS(@1), .key = $1, .number = $3 }); }
	| WORD '=' STRING	{ text_item(t, (Item){ ITEM_STRING, POS(@1), .key = $1, .text = $3 }); }
	;

type:	WORD '[' list ']'	{ $$ = text_type(t, POS(@1), $1); } ;

%%

/* "expected ':' or '{', found a number" */
static int yyreport_syntax_error(const yypcontext_t *at, void *scanner, Text *t)
{
	enum { MOST = 8 };
	yysymbol_kind_t want[MOST];
	int n = yypcontext_expected_tokens(at, want, MOST);
	char text[240] = "";
	size_t used = 0;

	(void)scanner;
	for (int i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
					 i == 0 ? "expected " : i == n - 1 ? " or " : ", ",
					 yysymbol_name(want[i]));
	text_error(t, POS(*yypcontext_location(at)), "%s%sfound %s", text, used ? ", " : "",
		   yysymbol_name(yypcontext_token(at)));
	return 0;
}
