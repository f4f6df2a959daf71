package bloomtype;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** JSON, as much as the vectors need: a Map, List, String, Double, Boolean or null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        return new Json(text).value();
    }

    private char peek() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private boolean next(String expected) {
        peek();
        boolean found = text.startsWith(expected, at);
        at += found ? expected.length() : 0;
        return found;
    }

    private void expect(String expected) {
        if (!next(expected)) {
            throw new IllegalStateException(expected + " is missing at character " + at);
        }
    }

    private Object value() {
        switch (peek()) {
            case '"':
                return string();
            case '[':
                List<Object> list = new ArrayList<>();
                for (at++; !next("]");) {
                    if (!list.isEmpty()) {
                        expect(",");
                    }
                    list.add(value());
                }
                return list;
            case '{':
                Map<String, Object> map = new HashMap<>();
                for (at++; !next("}");) {
                    if (!map.isEmpty()) {
                        expect(",");
                    }
                    peek();
                    String name = string();
                    expect(":");
                    map.put(name, value());
                }
                return map;
            default:
                if (next("null")) {
                    return null;
                } else if (next("true")) {
                    return true;
                } else if (next("false")) {
                    return false;
                }
                int start = at;
                while ("+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
                    at++;
                }
                return Double.valueOf(text.substring(start, at));
        }
    }

    private String string() {
        expect("\"");
        StringBuilder result = new StringBuilder();
        for (; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\' && "\"\\/".indexOf(text.charAt(++at)) < 0) {
                throw new IllegalStateException("an escape at character " + at);
            }
            result.append(text.charAt(at));
        }
        at++;
        return result.toString();
    }
}
